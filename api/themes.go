package api

import (
	"net/http"
	"net/url"

	"github.com/gofiber/fiber/v2"

	"presswork/internal/fault"
	"presswork/themes"
)

type themeList struct {
	Default string         `json:"default"`
	Count   int            `json:"count"`
	Themes  []themes.Theme `json:"themes"`
}

func (s *Server) listThemes(c *fiber.Ctx) error {
	list := s.Themes.List()
	writeJSON(c.Context(), http.StatusOK, themeList{Default: themes.Default, Count: len(list), Themes: list})

	return nil
}

func (s *Server) getTheme(c *fiber.Ctx) error {
	theme, err := s.themeInPath(c)
	if err != nil {
		return err
	}
	writeJSON(c.Context(), http.StatusOK, theme)

	return nil
}

func (s *Server) themeInPath(c *fiber.Ctx) (themes.Theme, error) {
	name, err := url.PathUnescape(c.Params("name"))
	if err != nil {
		name = c.Params("name")
	}

	theme, err := s.Themes.Get(name)
	if fault.CodeOf(err) == fault.ThemeNotFound {
		// In a path the theme is the resource itself.
		return theme, &statusError{http.StatusNotFound, fault.AsError(err)}
	}

	return theme, err
}
