package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"presswork/internal/inference"
)

// DefaultLlamaServer is the default address of llama-server.
const DefaultLlamaServer = "http://127.0.0.1:8080"

// findTimeout bounds the search for a llama-server.
const findTimeout = 5 * time.Second

// errNotLlamaServer is returned for another program at the address.
var errNotLlamaServer = errors.New("the server at this address is not llama-server")

// FindLlamaServer returns the models of a llama-server at a base address without a path. It returns an error if
// another program listens there. The context window of a model is the one that the server was started with, if the
// server states it.
func FindLlamaServer(ctx context.Context, base string) ([]inference.Model, error) {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	base = strings.TrimRight(base, "/")

	var list struct {
		Data []struct {
			ID      string `json:"id"`
			OwnedBy string `json:"owned_by"`
			Meta    struct {
				Context int `json:"n_ctx_train"`
			} `json:"meta"`
		} `json:"data"`
	}
	if err := getJSON(ctx, base+"/v1/models", &list); err != nil {
		return nil, err
	}

	var props struct {
		Settings struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Modalities struct {
			Vision bool `json:"vision"`
		} `json:"modalities"`
	}
	if err := getJSON(ctx, base+"/props", &props); err != nil {
		props.Settings.Context = 0 // the server may have /props disabled
	}
	var models []inference.Model

	for _, found := range list.Data {
		if found.OwnedBy != "llamacpp" || found.ID == "" {
			return nil, errNotLlamaServer
		}

		m := inference.Model{
			// The id is often the path of the model's file.
			ID:            strings.TrimSuffix(path.Base(found.ID), ".gguf"),
			OwnedBy:       "llama.cpp",
			ContextWindow: found.Meta.Context,
			Capabilities:  []string{inference.CanChat, inference.CanTools, inference.CanReason},
			Upstreams: []inference.Upstream{
				{Name: "llama-server", Kind: inference.LlamaServer, BaseURL: base + "/v1", Model: found.ID},
			},
		}
		if n := props.Settings.Context; n > 0 {
			m.ContextWindow = n
		}

		if props.Modalities.Vision {
			m.Capabilities = append(m.Capabilities, inference.CanVision)
		}
		models = append(models, m)
	}

	return models, nil
}

// getJSON decodes the JSON at an address, at most 1 MB. It follows no redirects.
func getJSON(ctx context.Context, url string, answer any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()

	if resp.StatusCode != http.StatusOK {
		return errNotLlamaServer
	}

	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}

	return json.Unmarshal(b, answer)
}
