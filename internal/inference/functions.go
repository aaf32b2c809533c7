package inference

import "encoding/json"

// BuiltinFunctions returns the functions that a built-in tool becomes for an upstream, or nil for another type.
func BuiltinFunctions(kind string) []Tool {
	switch kind {
	case CodeInterpreter:
		return []Tool{
			function(
				PythonFunction,
				"Runs Python code and returns what it prints, the value of its last expression and the traceback "+
					"of an error. "+
					"Variables, imports and files in the working directory are there in later calls. "+
					"There is no network. "+
					"numpy, pandas, scipy, sympy and matplotlib may be installed; figures are shown to the user.",
				`{"type":"object","properties":{"code":{"type":"string","description":"The source code."}},`+
					`"required":["code"]}`,
			),
		}
	case BrowserSearch:
		return []Tool{
			function(SearchFunction,
				"Searches the web and shows a numbered list of results.",
				`{"type":"object","properties":{"query":{"type":"string","description":"What to search for."},`+
					`"topn":{"type":"integer","description":"How many results to show; 10 when left `+
					`out."}},"required":["query"]}`),
			function(
				OpenFunction,
				"Opens a page and shows its text with numbered lines and numbered links. "+
					"Without id it shows another part of the page of the cursor.",
				`{"type":"object","properties":{"id":{"type":["integer","string"],"description":"The number of a `+
					`link of the page that was shown last or that cursor names, or an address."},`+
					`"cursor":{"type":"integer","description":"The number in brackets before a page that was `+
					`shown; the last one when left out."},`+
					`"loc":{"type":"integer","description":"The line to begin `+
					`with."},"num_lines":{"type":"integer","description":"How many lines to show."}}}`,
			),
			function(
				FindFunction,
				"Finds a text in a page that was opened and shows the lines around each match.",
				`{"type":"object","properties":{"pattern":{"type":"string","description":"The text, as it stands `+
					`in the page."},`+
					`"cursor":{"type":"integer","description":"The number in brackets before a page that was `+
					`shown; the last one when left out."}},"required":["pattern"]}`,
			),
		}
	}

	return nil
}

// function returns a function tool. parameters is the JSON Schema of its arguments.
func function(name, description, parameters string) Tool {
	return Tool{
		Type:        FunctionTool,
		Name:        name,
		Description: description,
		Parameters:  json.RawMessage(parameters),
	}
}

// BuiltinNames returns the names of the functions that BuiltinFunctions returns.
func BuiltinNames(kind string) []string {
	var names []string
	for _, t := range BuiltinFunctions(kind) {
		names = append(names, t.Name)
	}

	return names
}
