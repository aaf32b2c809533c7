// Package sections prints a long document in parts, several at a time, and joins the PDFs. The result looks like one
// print. The caller describes the document by a Plan: the HTML of the page in blocks, and the blocks after which a page
// may end. Print returns the joined file.
//
// The steps:
//
//  1. Cut the document where a page ends in any case (page breaks, chapters that begin pages, merged files, turned
//     pages) into sections of at least 128 KB of HTML. A document with more elements than one print takes is also cut
//     at headings, after at most 256 KB, and between the pieces of long contents.
//  2. If a document of 512 KB or more has no such places, find page ends by layout passes. A layout pass prints the
//     blocks that may form the next section, without tags and without painting text. The last of these blocks that
//     begins a page begins the section after it. One tab makes this pass while another prints the section before. If
//     the print of a section has another number of pages than its layout pass, print the whole document in one piece.
//  3. If left pages have other margins than right ones, print a section for the side on which it begins by the layout
//     passes. Without layout passes, print it for the right side, and again if it begins on the left. A blank page
//     precedes a chapter that begins on the right, if the number of pages before it is odd.
//  4. When all pages are known, fill in the page numbers in contents and index, and print the sections with such
//     numbers again. Contents of more than 32 KB of HTML are sections of their own, so that no text is printed again
//     for them.
//  5. Print headers and footers on empty pages.
//  6. Join the prints: tags, outline, links between sections, ids and fonts. Draw the headers and footers on the pages
//     as forms.
//
// If a request names up to 100 pages, all sections without these pages are only laid out. If no page shows the number
// of pages, the sections after the last requested page are left out.
package sections
