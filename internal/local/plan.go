package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Plan decides where the result of each input goes. output is a file, a folder, Std, or "" for the folder of the
// input. It is a folder if the folder exists, if it ends in a separator, or if there are several inputs; it is
// created if necessary. ext is the extension of the results, ".pdf". Plan returns an error for the user when
// results would overwrite each other or an input.
func Plan(paths []string, output, ext string) ([]Input, error) {
	folder := output != "" && output != Std && (len(paths) > 1 || isFolder(output))
	switch {
	case len(paths) == 0:
		return nil, fmt.Errorf("name a Markdown file, or %s for standard input", Std)
	case output == Std && len(paths) > 1:
		return nil, fmt.Errorf("standard output takes one document, and %d are given", len(paths))
	case folder && filepath.Ext(output) == ext && !isFolder(output):
		return nil, fmt.Errorf(
			"%s is one file, and %d documents are given; name a folder, or make one document of them with --merge",
			output, len(paths))
	}

	inputs := make([]Input, 0, len(paths))
	for _, path := range paths {
		in := Input{Path: path, Output: output}
		switch {
		case folder:
			in.Output = filepath.Join(output, resultName(path, ext))
		case output == "" && path == Std && len(paths) > 1:
			return nil, fmt.Errorf("standard input among several documents needs an output folder")
		case output == "" && path == Std:
			in.Output = Std
		case output == "":
			in.Output = filepath.Join(filepath.Dir(beside(path)), resultName(path, ext))
		}
		inputs = append(inputs, in)
	}

	if err := checkCollisions(inputs); err != nil {
		return nil, err
	}

	if folder {
		if err := os.MkdirAll(output, 0o777); err != nil {
			return nil, fmt.Errorf("cannot create the folder %s for %d documents: %s", output, len(paths), reason(err))
		}
	}

	return inputs, nil
}

// PlanMerged is Plan for inputs with one result, which is named after the first. Errors: those of Plan.
func PlanMerged(paths []string, output, ext string) (Input, error) {
	inputs, err := Plan(paths[:min(len(paths), 1)], output, ext)
	if err != nil {
		return Input{}, err
	}
	inputs[0].Merge = paths[1:]

	return inputs[0], checkCollisions(inputs)
}

// isFolder reports whether an output is a folder by its name or on the disk.
func isFolder(output string) bool {
	if os.IsPathSeparator(output[len(output)-1]) {
		return true
	}
	info, err := os.Stat(output)

	return err == nil && info.IsDir()
}

// beside returns a path whose folder is that of the result: a book is printed next to its folder.
func beside(path string) string {
	if abs, err := filepath.Abs(path); err == nil && IsFolder(path) && filepath.Base(path) != nameOf(path) {
		return abs // "." or ".."
	}

	return filepath.Clean(path)
}

// resultName returns the file name of a result with its extension.
func resultName(path, ext string) string {
	if path == Std {
		return "document" + ext
	}

	if IsFolder(path) {
		return nameOf(path) + ext
	}
	base := filepath.Base(path)

	return strings.TrimSuffix(base, filepath.Ext(base)) + ext
}

// checkCollisions returns an error if results would overwrite an input or each other.
func checkCollisions(inputs []Input) error {
	sources, results := map[string]string{}, map[string]string{}

	for _, in := range inputs {
		for _, path := range append([]string{in.Path}, in.Merge...) {
			// Two paths may name one file.
			key := identity(path)
			if _, twice := sources[key]; twice {
				return fmt.Errorf("%s is given twice", path)
			}
			sources[key] = path
		}
	}

	for _, in := range inputs {
		if in.Output == Std {
			continue
		}

		key := identity(in.Output)
		if source, ok := sources[key]; ok {
			return fmt.Errorf("the result of %s would overwrite %s; choose another output", in.Path, source)
		}

		if other, ok := results[key]; ok {
			return fmt.Errorf("%s and %s would both become %s", other, in.Path, in.Output)
		}
		results[key] = in.Path
	}

	return nil
}

// identity returns the same string for the same file: the absolute path with resolved links.
func identity(path string) string {
	if path == Std {
		return Std
	}

	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}

	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}

	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		return filepath.Join(dir, filepath.Base(abs))
	}

	return abs
}
