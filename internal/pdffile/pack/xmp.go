package pack

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"
)

// xmp returns the metadata stream: the description and the standards that the file claims. It is never compressed,
// so that tools that do not read PDF find it. level is a PDF/A level such as "2b", or "". ua adds the claim
// of PDF/UA-1.
func (d description) xmp(level string, ua bool) []byte {
	var b strings.Builder
	b.WriteString("<?xpacket begin=\"\ufeff\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n" +
		`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` + "\n" +
		`<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" ` +
		`xmlns:pdf="http://ns.adobe.com/pdf/1.3/" xmlns:xmp="http://ns.adobe.com/xap/1.0/">` + "\n")
	// element writes a property, as an array of the type container if that is not "". attribute is added to the tag of
	// each item; "" for none. A property without values, or with an empty one, is left out.
	element := func(name, container, attribute string, values ...string) {
		if len(values) == 0 || slices.Contains(values, "") {
			return
		}
		b.WriteString("<" + name + ">")

		if container != "" {
			b.WriteString("<" + container + ">")
		}

		for _, v := range values {
			if container == "" {
				_ = xml.EscapeText(&b, []byte(v)) // a write to memory cannot fail
				continue
			}
			b.WriteString("<rdf:li" + attribute + ">")
			_ = xml.EscapeText(&b, []byte(v))
			b.WriteString("</rdf:li>")
		}

		if container != "" {
			b.WriteString("</" + container + ">")
		}
		b.WriteString("</" + name + ">\n")
	}
	const anyLanguage = ` xml:lang="x-default"`
	date := d.date.Format(time.RFC3339)
	element("dc:format", "", "", "application/pdf")
	element("dc:title", "rdf:Alt", anyLanguage, d.Title)
	element("dc:creator", "rdf:Seq", "", d.Author)
	element("dc:description", "rdf:Alt", anyLanguage, d.Subject)
	element("dc:subject", "rdf:Bag", "", d.Keywords...)
	element("dc:date", "rdf:Seq", "", d.Date)
	element("dc:language", "rdf:Bag", "", d.lang)
	element("pdf:Keywords", "", "", d.keywords())
	element("pdf:Producer", "", "", d.producer)
	element("xmp:CreatorTool", "", "", creator)
	element("xmp:CreateDate", "", "", date)
	element("xmp:ModifyDate", "", "", date)
	element("xmp:MetadataDate", "", "", date)
	b.WriteString("</rdf:Description>\n")

	if level != "" {
		fmt.Fprintf(&b, `<rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/">`+
			"<pdfaid:part>%s</pdfaid:part><pdfaid:conformance>%s</pdfaid:conformance></rdf:Description>\n",
			level[:1], strings.ToUpper(level[1:]))
	}

	if ua {
		b.WriteString(`<rdf:Description rdf:about="" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/">` +
			"<pdfuaid:part>1</pdfuaid:part></rdf:Description>\n")

		if level != "" {
			b.WriteString(uaSchema)
		}
	}
	b.WriteString("</rdf:RDF></x:xmpmeta>\n<?xpacket end=\"r\"?>")

	return []byte(b.String())
}

// uaSchema describes the property pdfuaid:part. PDF/A requires a description of every property that it does not
// define itself.
const uaSchema = `<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" ` +
	`xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" ` +
	`xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">` +
	`<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource"><pdfaSchema:schema>PDF/UA ` +
	`identification</pdfaSchema:schema>` +
	`<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI><pdfaSchema:prefix>` +
	`pdfuaid</pdfaSchema:prefix>` +
	`<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource"><pdfaProperty:name>part</pdfaProperty:name>` +
	`<pdfaProperty:valueType>Integer</pdfaProperty:valueType><pdfaProperty:category>` +
	`internal</pdfaProperty:category>` +
	`<pdfaProperty:description>the part of ISO 14289 to which the file conforms</pdfaProperty:description>` +
	`</rdf:li></rdf:Seq>` +
	`</pdfaSchema:property></rdf:li></rdf:Bag></pdfaExtension:schemas></rdf:Description>` + "\n"
