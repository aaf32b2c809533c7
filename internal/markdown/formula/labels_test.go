package formula

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTakeLabelsRemovesAndReturnsLabels(t *testing.T) {
	t.Parallel()

	for src, want := range map[string][]RowLabel{
		`x`:                  nil,
		`x \label{a}`:        {{Key: "a", Row: -1}},
		`x \tag{T}\label{a}`: {{Key: "a", Row: -1, Tag: "T"}},
		`\begin{equation}\label{a}x\end{equation}`: {{Key: "a"}},
		`\begin{align*}x\label{a}\end{align*}`:     {{Key: "a", Row: -1}},
		`\begin{align}x\label{a}\\\[2ex] y\notag\\z\\w\label{b}\end{align}`: {
			{Key: "a"}, {Key: "b", Row: 2},
		},
		`\begin{gather}\begin{matrix}x\\y\end{matrix}\\z\label{b}\end{gather}`: {{Key: "b", Row: 1}},
		`\begin{multline}x\\y\label{b}\end{multline}`:                          {{Key: "b"}},
	} {
		t.Run(src, func(t *testing.T) {
			t.Parallel()

			if _, got := TakeLabels(src); cmp.Diff(want, got) != "" {
				t.Error(cmp.Diff(want, got))
			}
		})
	}

	if rest, _ := TakeLabels(`x \label{a} + y`); rest != "x + y" {
		t.Errorf("the formula became %q, want x + y", rest)
	}
}
