# Runs cells of Python for package sandbox. What is run shares this process, so
# nothing here is a wall: the reader of the frames believes none of it.
#
# A frame is a length of 4 bytes, most significant first, and JSON in UTF-8.
# Commands come on descriptor 0: {"cell": 1, "code": "..."}. Answers go to
# descriptor 3: {"cell": 1, "failed": false, "text": "...", "pictures": ["base64"],
# "left_out": 0}; the first answer is cell 0's, when the interpreter is ready.
# stdout and stderr are the cell's own.
import ast
import binascii
import builtins
import io
import json
import os
import signal
import struct
import sys
import types

BACKEND = "presswork_figures"
MAX_PICTURES = 4
MAX_PICTURE_BYTES = 1 << 20
MAX_SIDE = 2000  # pixels
MAX_TEXT = 16 << 10


class Stop(Exception):
    """The sender of commands has gone."""


class Pictures:
    """What a cell shows, as PNG."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.shown = []
        self.left_out = 0

    def add(self, png):
        if len(self.shown) < MAX_PICTURES and len(png) <= MAX_PICTURE_BYTES:
            self.shown.append(binascii.b2a_base64(png, newline=False).decode("ascii"))
        else:
            self.left_out += 1

    def add_figures(self):
        """Takes all open figures, and closes them."""
        helpers = sys.modules.get("matplotlib._pylab_helpers")
        if helpers is None:
            return
        for manager in helpers.Gcf.get_all_fig_managers():
            figure = manager.canvas.figure
            if len(self.shown) >= MAX_PICTURES:
                self.left_out += 1
                continue
            side = max(figure.get_size_inches())
            for side_pixels in (MAX_SIDE, MAX_SIDE // 4):
                png = io.BytesIO()
                figure.savefig(png, format="png", dpi=min(figure.dpi, side_pixels / side))
                if png.tell() <= MAX_PICTURE_BYTES:
                    break
            self.add(png.getvalue())
        helpers.Gcf.destroy_all()

    def add_value(self, value):
        """Takes what draws itself, such as an image of PIL. Reports whether it did."""
        draw = getattr(type(value), "_repr_png_", None)
        png = draw(value) if draw else None
        if isinstance(png, bytes):
            self.add(png)
        return isinstance(png, bytes)

    def add_files(self, before):
        """Takes the pictures that were written since: in the folder, and not shown."""
        for name, written in sorted(pictures_in_folder().items()):
            if before.get(name) != written:
                with open(name, "rb") as f:
                    self.add(f.read(MAX_PICTURE_BYTES + 1))


def pictures_in_folder():
    try:
        with os.scandir(".") as entries:
            return {e.name: e.stat().st_mtime_ns for e in entries if e.name.lower().endswith(".png") and e.is_file()}
    except OSError:
        return {}


class FigureBackend:
    """Finds matplotlib's backend, which is loaded with matplotlib only."""

    def __init__(self, pictures):
        self.pictures = pictures

    def find_spec(self, name, path=None, target=None):
        if name == BACKEND:
            from importlib.machinery import ModuleSpec

            return ModuleSpec(name, self)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        from matplotlib.backends import backend_agg

        module.FigureCanvas = backend_agg.FigureCanvasAgg
        module.FigureManager = backend_agg.FigureManagerBase
        module.new_figure_manager = backend_agg._BackendAgg.new_figure_manager
        module.new_figure_manager_given_figure = backend_agg._BackendAgg.new_figure_manager_given_figure
        module.draw_if_interactive = lambda: None
        module.show = lambda *args, **kwargs: self.pictures.add_figures()


def print_failure(name):
    """Writes the traceback of the present exception, without frames of this file."""
    import traceback

    kind, value, tb = sys.exc_info()
    while tb is not None and not tb.tb_frame.f_code.co_filename.startswith("<cell "):
        tb = tb.tb_next
    if isinstance(value, SyntaxError) and value.filename == name:
        tb = None
    try:
        text = "".join(traceback.format_exception(kind, value, tb))
    except Exception:  # a __str__ of the cell's
        text = kind.__name__ + "\n"
    sys.stderr.write(text)


def run(code, cell, scope, pictures):
    """Runs one cell. Returns whether it failed and what the last expression shows."""
    name = "<cell %d>" % cell
    pictures.reset()
    failed, text = False, ""
    before = pictures_in_folder()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        try:
            tree = ast.parse(code, name)
            lines = code.splitlines(keepends=True)
            linecache = sys.modules.get("linecache")
            if linecache is None:
                import linecache
            linecache.cache[name] = (len(code), None, lines, name)
            last = None
            if tree.body and isinstance(tree.body[-1], ast.Expr):
                last = ast.Expression(tree.body.pop().value)
            exec(compile(tree, name, "exec", dont_inherit=True), scope)
            if last is not None:
                value = eval(compile(last, name, "eval", dont_inherit=True), scope)
                if value is not None and not pictures.add_value(value):
                    text = repr(value)[:MAX_TEXT]
        except SystemExit as e:
            if e.code not in (None, 0):
                failed = True
                sys.stderr.write("SystemExit: %s\n" % (e.code,))
        except BaseException:
            failed = True
            print_failure(name)
        try:
            pictures.add_figures()
            if not pictures.shown and not pictures.left_out:
                pictures.add_files(before)
        except Exception:
            failed = True
            print_failure(name)
    except KeyboardInterrupt:
        failed = True
        sys.stderr.write("KeyboardInterrupt\n")
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return failed, text


def read(stream, n):
    data = stream.read(n)
    if len(data) != n:
        raise Stop
    return data


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    commands = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(3), "wb")
    os.close(3)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")

    def answer(cell, failed=False, text="", pictures=(), left_out=0):
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
        data = json.dumps({"cell": cell, "failed": failed, "text": text, "pictures": list(pictures), "left_out": left_out})
        data = data.encode("utf-8")
        answers.write(struct.pack(">I", len(data)) + data)
        answers.flush()

    module = types.ModuleType("__main__")
    module.__builtins__ = builtins
    sys.modules["__main__"] = module
    sys.argv = [""]
    sys.path.append(os.getcwd())
    pictures = Pictures()
    sys.meta_path.insert(0, FigureBackend(pictures))
    me = os.getpid()
    answer(0)
    while True:
        (size,) = struct.unpack(">I", read(commands, 4))
        command = json.loads(read(commands, size))
        failed, text = run(command["code"], command["cell"], module.__dict__, pictures)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):  # closed by the cell
                pass
        if os.getpid() != me:  # a fork that ran to the cell's end
            os._exit(0)
        try:
            os.kill(-1, signal.SIGKILL)  # all that the cell started
        except OSError:  # there is none
            pass
        answer(command["cell"], failed, text, pictures.shown, pictures.left_out)


try:
    main()
except Stop:
    pass
