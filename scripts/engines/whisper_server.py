"""faster-whisper behind OpenAI's form of transcriptions, as whisper-server has it:
whisper_server.py -m MODEL_DIR --host HOST --port PORT. It answers one request at a
time and is for tests and demonstrations."""

import argparse
import email.parser
import email.policy
import http.server
import io
import json
import threading

import faster_whisper

LIMIT = 64 << 20  # bytes of a request


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    turn = threading.Lock()
    model = None
    name = ""

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json"):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status, message):
        self.close_connection = True
        self.answer(status, {"error": {"message": message, "type": "invalid_request_error"}})

    def do_GET(self):
        if self.path == "/health":
            return self.answer(200, {"status": "ok"})
        if self.path == "/v1/models":
            return self.answer(200, {"object": "list", "data": [{"id": self.name, "object": "model", "owned_by": "faster-whisper"}]})
        self.refuse(404, "unknown path")

    def form(self):
        """The fields of the multipart body, each a list of values; files are bytes."""
        size = int(self.headers.get("Content-Length") or 0)
        if not 0 < size <= LIMIT:
            raise ValueError("the body needs a length of at most %d bytes" % LIMIT)
        head = "Content-Type: %s\r\n\r\n" % self.headers["Content-Type"]
        whole = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head.encode() + self.rfile.read(size))
        fields = {}
        for part in whole.iter_parts():
            name = part.get_param("name", header="content-disposition")
            value = part.get_payload(decode=True)
            fields.setdefault(name, []).append(value if part.get_filename() else value.decode())
        return fields

    def do_POST(self):
        task = {"/v1/audio/transcriptions": "transcribe", "/v1/audio/translations": "translate"}.get(self.path)
        if task is None:
            return self.refuse(404, "unknown path")
        try:
            fields = self.form()
            audio = io.BytesIO(fields["file"][0])
        except (KeyError, TypeError, ValueError) as e:
            return self.refuse(400, "the form cannot be read: %s" % e)
        first = lambda name, default: fields.get(name, [default])[0] or default
        words = "word" in fields.get("timestamp_granularities[]", []) + fields.get("timestamp_granularities", [])
        with self.turn:
            try:
                segments, info = self.model.transcribe(
                    audio, task=task, language=first("language", None), initial_prompt=first("prompt", None),
                    temperature=float(first("temperature", 0)), word_timestamps=words,
                )
                segments = list(segments)
            except Exception as e:
                return self.refuse(400, "the audio cannot be read: %s" % e)
        text = "".join(s.text for s in segments)
        form = first("response_format", "json")
        if form == "text":
            return self.answer(200, text.strip() + "\n", "text/plain; charset=utf-8")
        if form == "json":
            return self.answer(200, {"text": text})
        if form != "verbose_json":
            return self.refuse(400, "response_format is not supported: json, text, verbose_json")
        out = {"task": task, "language": info.language, "duration": info.duration, "text": text, "segments": [
            {"id": i, "seek": s.seek, "start": s.start, "end": s.end, "text": s.text, "tokens": s.tokens, "temperature": s.temperature,
             "avg_logprob": s.avg_logprob, "compression_ratio": s.compression_ratio, "no_speech_prob": s.no_speech_prob}
            for i, s in enumerate(segments)]}
        if words:
            out["words"] = [{"word": w.word, "start": w.start, "end": w.end} for s in segments for w in s.words or []]
        self.answer(200, out)


options = argparse.ArgumentParser()
options.add_argument("-m", "--model", required=True)
options.add_argument("--host", default="127.0.0.1")
options.add_argument("--port", type=int, default=8080)
options.add_argument("--alias", default="whisper")
options.add_argument("--inference-path", help="always /v1/audio/transcriptions, and /v1/audio/translations")
options.add_argument("-t", "--threads", type=int, default=2)
given = options.parse_args()
Handler.model = faster_whisper.WhisperModel(given.model, device="cpu", compute_type="int8", cpu_threads=given.threads)
Handler.name = given.alias
server = http.server.ThreadingHTTPServer((given.host, given.port), Handler)
print("listening on", server.server_address[1], flush=True)
server.serve_forever()
