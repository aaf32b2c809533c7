package diagram

// kinds are the diagrams that Mermaid draws, with every part that has a colour or a size of its own.
var kinds = []struct{ name, source string }{
	{
		"flowchart",
		"flowchart TD\n a[Anna] -->|to| b{Berta} ==> c([Clara]) -.->|thin| d[(Dora)]\n subgraph Group\n  e((Emma)) --> f>Flag] --> g{{Hex}} --> h[[Sub]]\n  subgraph Inner\n   i[/Para/]\n  end\n end\n b --> e",
	},
	{
		"sequence",
		"sequenceDiagram\n actor Anna\n participant Berta\n box Group\n participant Clara\n end\n Anna->>+Berta: Hello\n Note over Anna,Berta: A note\n alt is so\n Berta-->>-Anna: Yes\n else otherwise\n Berta--xClara: No\n end\n loop daily\n Clara->>Clara: Self\n end",
	},
	{
		"class",
		"classDiagram\n namespace Family {\n class Anna {\n <<interface>>\n +int age\n +walk(to) bool\n }\n }\n Anna <|-- Berta : is\n Anna \"1\" *-- \"many\" Clara : has\n note for Berta \"A note\"",
	},
	{
		"state",
		"stateDiagram-v2\n [*] --> Anna\n state Anna {\n  [*] --> Inner\n  Inner --> Other : step\n  --\n  [*] --> Second\n }\n state choice <<choice>>\n Anna --> choice : go\n choice --> Berta\n choice --> [*]\n note right of Berta : A note",
	},
	{
		"er",
		"erDiagram\n ANNA ||--o{ BERTA : has\n ANNA {\n string name PK \"a comment\"\n int age\n int size\n }\n BERTA }|..|{ CLARA : uses",
	},
	{
		"gantt",
		"gantt\n title Plan\n dateFormat YYYY-MM-DD\n excludes weekends\n section Anna\n Done :done, a1, 2026-01-05, 9d\n Active :active, a2, after a1, 9d\n section Berta\n Critical :crit, a3, 2026-01-08, 12d\n Critical and done :crit, done, 2026-01-05, 3d\n Milestone :milestone, 2026-01-20, 0d\n Short :2026-01-20, 1d\n section Clara\n Plain :2026-01-12, 12d\n section Dora\n Fourth :2026-01-12, 12d",
	},
	{
		"small letters",
		"%%{init: {\"gantt\": {\"fontSize\": 6}}}%%\ngantt\n dateFormat YYYY-MM-DD\n Small :2026-01-05, 9d",
	},
	{
		"pie",
		"pie showData title Share\n \"Anna\" : 3\n \"Berta\" : 2\n \"Clara\" : 2\n \"Dora\" : 1\n \"Emma\" : 1\n \"Frida\" : 1\n \"Gerda\" : 1\n \"Hanna\" : 1",
	},
	{
		"mindmap",
		"mindmap\n  root((Anna))\n    Berta\n      Second\n        Third\n    [Clara]\n      Leaf\n    (Dora)\n    ))Emma((\n    {{Frida}}\n    )Gerda(\n    Hanna\n    Ilse\n    Jana\n    Karla\n    Lena\n    Maria",
	},
	{
		"gitgraph",
		"gitGraph\n commit id: \"one\"\n branch Berta\n commit tag: \"v1\"\n branch Clara\n commit type: HIGHLIGHT\n branch Dora\n commit\n branch Emma\n commit type: REVERSE\n branch Frida\n commit\n branch Gerda\n commit\n branch Hanna\n commit\n checkout main\n commit id: \"two\"\n checkout Clara\n cherry-pick id: \"two\"",
	},
	{
		"timeline",
		"timeline\n title Time\n section Early\n 2001 : Anna : Berta\n 2002 : Clara\n section Late\n 2003 : Dora\n section Later\n 2004 : Emma\n section Last\n 2005 : Frida",
	},
	{
		"quadrant",
		"quadrantChart\n title Chart\n x-axis Low --> High\n y-axis Poor --> Rich\n quadrant-1 One\n quadrant-2 Two\n quadrant-3 Three\n quadrant-4 Four\n Anna: [0.3, 0.6]\n Berta: [0.8, 0.2]",
	},
	{
		"journey",
		"journey\n title Day\n section Work\n  Tea: 5: Anna\n  Write: 1: Anna, Berta\n section Home\n  Cook: 3: Clara, Dora",
	},
	{
		"xychart",
		"xychart-beta\n title Sales\n x-axis \"Who\" [Anna, Berta, Clara]\n y-axis \"Much\" 0 --> 10\n bar [1, 2, 3]\n line [9, 8, 9]",
	},
	{"sankey", "sankey-beta\nAnna,Berta,10\nAnna,Clara,5\nBerta,Dora,7\nClara,Dora,4\nBerta,Emma,3"},
	{
		"block",
		"block-beta\n columns 3\n a[\"Anna\"] b([\"Berta\"]) c((\"Clara\"))\n block:group:3\n  d[\"Dora\"] e{\"Emma\"}\n end\n a -- \"to\" --> d",
	},
	{"packet", "packet-beta\n title Header\n 0-15: \"Source\"\n 16-31: \"Destination\"\n 32-63: \"Sequence\""},
	{
		"kanban",
		"kanban\n  todo[To do]\n    t1[Write]@{ ticket: AB-1, priority: 'High', assigned: 'Anna' }\n    t2[Read]\n  doing[Doing]\n    t3[Draw]\n  done[Done]\n    t4[Sleep]",
	},
	{
		"radar",
		"radar-beta\n title Marks\n axis a[\"Maths\"], b[\"Art\"], c[\"Sport\"]\n curve x[\"Anna\"]{80, 90, 60}\n curve y[\"Berta\"]{50, 70, 95}\n max 100",
	},
	{
		"requirement",
		"requirementDiagram\n requirement first {\n id: 1\n text: it works\n risk: high\n verifymethod: test\n }\n element thing {\n type: simulation\n }\n thing - satisfies -> first",
	},
	{
		"architecture",
		"architecture-beta\n group api(cloud)[API]\n service db(database)[Database] in api\n service disk(disk)[Storage] in api\n service server(server)[Server] in api\n service net(internet)[Net]\n db:L -- R:server\n disk:T -- B:server\n net:R --> L:db",
	},
	{
		"c4",
		"C4Context\n title System\n Person(a, \"Anna\", \"A customer\")\n Person_Ext(x, \"Xaver\", \"Outside\")\n Enterprise_Boundary(b0, \"Bank\") {\n System(s, \"Banking\", \"What it does\")\n SystemDb(d, \"Store\")\n }\n System_Ext(m, \"Mail\", \"Of others\")\n BiRel(a, s, \"Uses\")\n Rel(s, m, \"Sends\", \"SMTP\")",
	},
	{
		"treemap",
		"treemap-beta\n\"Anna\"\n  \"Berta\": 10\n  \"Clara\"\n    \"Dora\": 5\n    \"Emma\": 7\n\"Frida\"\n  \"Gerda\": 8",
	},
}

// graphs are drawn by Graphviz.
var graphs = []struct{ name, source string }{
	{
		"graph",
		"digraph G { label=\"Title\"; rankdir=LR; subgraph cluster_a { label=\"Group\"; a -> b [label=\"to\"] } b -> c; c [shape=box, label=\"Clara\"]; " +
			"d [shape=record, label=\"one|{two|three}\"]; c -> d; e [shape=none, label=\"Plain\"]; d -> e [style=dashed] }",
	},
	{
		"table",
		"graph { a [shape=none, label=<<table border=\"1\"><tr><td>One</td><td>Two</td></tr><tr><td colspan=\"2\">Three</td></tr></table>>]; a -- b }",
	},
	{"small letters", "graph { node [fontsize=5]; Small -- Letters }"},
}

// boards are drawn by D2.
var boards = []struct{ name, source string }{
	{
		"board",
		"outer: Outer { inner: Inner { core: Core { heart: Heart -> mind: Mind } } }\nstore: Store {shape: cylinder}\n" +
			"queue: Queue {shape: queue}\nnext: Next {shape: step}\nwho: Who {shape: person}\nif: If {shape: diamond}\n" +
			"doc: Doc {shape: document}\nfar: Far {shape: cloud}\npage: Page {shape: page}\nhex: Hex {shape: hexagon}\n" +
			"call: Call {shape: callout}\nouter.inner -> store: writes {style.stroke-dash: 4}\nstore <-> queue: 1\nnext -- who",
	},
	{
		"tables of a database",
		"a: Orders {shape: sql_table; id: int {constraint: primary_key}; customer: int {constraint: foreign_key}}\n" +
			"b: Customers {shape: sql_table; id: int}\na.customer -> b.id\nc: Queue {shape: class; +push(x): error; -size: int}",
	},
	{
		"sequence of D2",
		"shape: sequence_diagram\na: Anna\nb: Berta\na -> b: Hello\nb -> b: thinks\nGroup: {b -> a: Bye}\na.\"a note\"\n" +
			"a.span -> b.span: deep",
	},
	{
		"Markdown and code of D2",
		"n: |md\n  ## Title\n  Some **bold** `code`\n  - one\n|\nc: |go\n  func main() { return 1 }\n|",
	},
	{"small letters of D2", "a: A {style.font-size: 8}\nb: B\na -> b"},
}
