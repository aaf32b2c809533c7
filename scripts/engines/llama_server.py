"""llama.cpp's own HTTP server out of the PyPI package xllamacpp, with llama-server's
options that Presswork uses: llama_server.py -m MODEL.gguf --host HOST --port PORT."""

import argparse
import signal

import xllamacpp

options = argparse.ArgumentParser()
options.add_argument("-m", "--model", required=True)
options.add_argument("--host", default="127.0.0.1")
options.add_argument("--port", type=int, default=8080)
options.add_argument("--alias", help="name of the model; the file's by default")
options.add_argument("--chat-template", default="{% for m in messages %}{{ m.content }} {% endfor %}",
                     help="Jinja; the default lets a base model continue the text")
options.add_argument("--jinja", action="store_true", help="always on")
options.add_argument("-c", "--ctx-size", type=int, default=2048)
options.add_argument("-np", "--parallel", type=int, default=1)
options.add_argument("-t", "--threads", type=int, default=2)
given = options.parse_args()

params = xllamacpp.CommonParams()
params.model.path = given.model
params.hostnames = [given.host]
params.port = given.port
params.model_alias = {given.alias or given.model}
params.n_ctx = given.ctx_size * given.parallel
params.n_parallel = given.parallel
params.cpuparams.n_threads = given.threads
params.cpuparams_batch.n_threads = given.threads
params.use_jinja = True
params.chat_template = given.chat_template
server = xllamacpp.Server(params)
print("listening on", server.listening_address, flush=True)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
