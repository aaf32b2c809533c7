package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// errEnded ends the reading of a stream whose answer is complete.
var errEnded = errors.New("the answer is complete")

// stream posts a request as JSON and calls event with the data of each server-sent event. The stream is complete when
// event returns errEnded. Other errors of event are returned as they are.
func (s *Server) stream(ctx context.Context, path string, request any, event func(data []byte) error) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}

	req, err := s.request(ctx, http.MethodPost, path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")

	res, err := s.do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()

	if res.StatusCode != http.StatusOK {
		return s.answerError(res)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, maxAnswer)

	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue
		}

		if err := event(bytes.TrimSpace(data)); errors.Is(err, errEnded) {
			return nil
		} else if err != nil {
			return err
		}
	}

	switch err := lines.Err(); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("%s: the stream was interrupted: %w", s.shown, withoutURL(err))
	}

	return fmt.Errorf("%s: the stream ended before the answer was complete", s.shown)
}
