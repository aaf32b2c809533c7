package markdown

import (
	"strings"
	"testing"
)

func TestAttributesOfOtherProgramsAreNotPrinted(t *testing.T) {
	t.Parallel()

	for source, want := range map[string]string{
		`![](x.png){fig-alt="a <b> & *c*"}`:   `<p><span class="image-missing">a &lt;b&gt; &amp; *c*</span></p>`,
		`![d](x.png){fig-alt="a" fig-pos=h}`:  `<p><span class="image-missing">d</span></p>`,
		`[a](#b){target=_blank} [c](#d){e=f}`: `<p><a href="#b">a</a> <a href="#d">c</a></p>`,
		`f(x){a=b}, f(x){y}`:                  `<p>f(x){a=b}, f(x){y}</p>`,
	} {
		t.Run(source, func(t *testing.T) {
			d, err := New().Parse(t.Context(), []byte(source), Options{})
			if err != nil || strings.TrimSpace(d.HTML) != want {
				t.Errorf("%s: %q, %v, want %q", source, d.HTML, err, want)
			}
		})
	}
}
