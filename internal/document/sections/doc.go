// Package sections prints a long document in parts, several at a time, and joins
// the PDFs so that no seam shows. It knows a document by its Plan: a page in
// pieces, with the places between them where a page may end.
//
// The steps:
//
//  1. Cut the document where a page ends in any case (page breaks, chapters that
//     begin pages, merged files, turned pages) into sections of at least 128 KB
//     of HTML. A document with more elements than one print takes is also cut at
//     headings, after at most 512 KB.
//  2. If a document of 512 KB or more has no such places, find page ends by layout
//     passes: print what may be the next section untagged and without painting
//     text. The last block in it that begins a page begins the section after it.
//     One tab makes this pass while another prints the section before. If a
//     section then has other pages than its layout pass, print the document again
//     in one piece.
//  3. Where left pages have other margins than right ones, print a section for the
//     side on which the layout passes place it, else for the right, and again if
//     it lands on the left. An odd number of pages before a chapter that begins on
//     the right is followed by a white page, printed once.
//  4. Join the prints: tags, outline, links between sections, ids and fonts.
//  5. Fill in page numbers in contents and index once all pages are known, and
//     print only the sections that hold some again. Contents of more than 32 KB of
//     HTML are a section of their own, so that no text is printed again for them.
//  6. Print headers and footers last, on empty pages, and draw them on the pages
//     as forms.
//
// If a request names up to 100 pages, all sections without these pages are only
// laid out. If the number of pages shows nowhere, this ends with the last page
// named.
package sections
