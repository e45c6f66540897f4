"""The menus: every action there is, with its key, its icon, and when it can be used."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu

from explorer.declare.elements import Transform, transforms
from explorer.declare.states.model_name import code_of
from explorer.state.catalogue import Catalogue
from explorer.state.resolve import DTYPES
from explorer.state.state import State
from widgets.base.controls.menus import Choices, empty
from widgets.base.look.icons import icon
from widgets.base.text.kinds_of_data import parts, place_of, title_of
from widgets.views.choosing.own_networks import own_models
from widgets.window.automation.playing import SPEEDS
from widgets.window.bars.model_menu import by_row, fill_by_domain
from widgets.window.files import Files
from widgets.window.room.shell import Shell

THEMES = (("system", "Follow the system"), ("light", "Light"), ("dark", "Dark"))
ARROWS = (("Left", -1.0, 0.0), ("Right", 1.0, 0.0), ("Up", 0.0, -1.0), ("Down", 0.0, 1.0))


class Menus(QObject):
    """Builds the menu bar of the window and keeps it true to the state."""

    asked = Signal(str)  # what the window itself is to do, such as "palette"
    theme_chosen = Signal(str)
    speed_chosen = Signal(float)

    def __init__(self, shell: Shell, files: Files) -> None:
        super().__init__(shell)
        self._followed: tuple[object, ...] = ()  # what of the state the actions have followed
        self._shell, self._files = shell, files
        self._controller = shell.controller
        self._icons: dict[str, str] = {}
        self._offered: dict[str, bool] = {}  # by name, which panels have something to say
        self.actions: dict[str, QAction] = {}
        bar = shell.menuBar()
        names = ("&File", "&Edit", "&Model", "&Data", "&Transform", "&Layer", "&View", "&Run", "&Help")
        self.menus: dict[str, QMenu] = {name.replace("&", ""): bar.addMenu(name) for name in names}
        self._fill_file(self.menus["File"])
        self._fill_edit(self.menus["Edit"])
        self._fill_transform(self.menus["Transform"])
        self.menus["Layer"].aboutToShow.connect(partial(shell.layer_menu.refill, self.menus["Layer"]))
        self._fill_view(self.menus["View"])
        self._fill_run(self.menus["Run"])
        self._fill_help(self.menus["Help"])
        self._models = self._choices(self.menus["Model"])
        self._compare = self._choices(QMenu("Compare with", self.menus["Model"]))
        self._samples = self._choices(self.menus["Data"])
        self._fill_model(None)
        self._fill_data(None)
        self._controller.frame_ready.connect(lambda _: self._follow_views())

    # building ---------------------------------------------------------------------------------------------
    def add(
        self,
        menu: QMenu,
        name: str,
        text: str,
        slot: Callable[[], object],
        keys: str = "",
        picture: str = "",
        checkable: bool = False,
        tip: str = "",
    ) -> QAction:
        """Add an action; `keys` are alternatives, separated by a bar."""
        action = QAction(text, menu, checkable=checkable)
        # clicked() and triggered() pass a flag on; the slots here take none
        action.triggered.connect(lambda checked=False: slot())
        if keys:
            action.setShortcuts([QKeySequence(key) for key in keys.split("|")])
        plain = text.replace("&", "").rstrip("…")
        first = f" ({action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)})" if keys else ""
        action.setToolTip((tip or plain) + first)
        if tip:
            action.setStatusTip(tip)
            action.setWhatsThis(tip)
        if picture:
            self._icons[name] = picture
            action.setIcon(icon(picture))
        self.actions[name] = action
        menu.addAction(action)
        return action

    def _ask(self, what: str) -> Callable[[], None]:
        return partial(self.asked.emit, what)

    def _choices(self, menu: QMenu) -> Choices:
        group = QActionGroup(self)
        group.setExclusionPolicy(QActionGroup.ExclusionPolicy.None_)
        return Choices(menu, group)

    def _fill_file(self, menu: QMenu) -> None:
        files = self._files
        self.add(
            menu, "open", "&Open data…", files.open_data, "Ctrl+O", "open",
            tip="Open a file of your own; a line above the stage says how it was read",
        )  # fmt: skip
        self.add(
            menu, "open_model", "Open &model…", files.open_model, "Ctrl+Shift+M",
            tip="Look at a model file without running it, then open it: .py, .safetensors, .pt, .pt2, .onnx",
        )  # fmt: skip
        tip = "Type what a command takes: timm:resnet18, torchvision:resnet18, a folder, net.py:Net(3)"
        self.add(menu, "name_model", "Open model by &name…", files.models.by_name.ask, "Ctrl+Alt+M", tip=tip)
        self.recent = menu.addMenu("Open &recent")
        self.recent.setProperty("files", True)
        self.recent.aboutToShow.connect(lambda: files.fill_recent(self.recent))
        files.fill_recent(self.recent)
        self.recent_models = menu.addMenu("Recent mo&dels")
        self.recent_models.setProperty("files", True)
        self.recent_models.aboutToShow.connect(lambda: files.models.fill_recent(self.recent_models))
        files.models.fill_recent(self.recent_models)
        self.add(menu, "trusted", "Trusted &files…", files.show_trusted)
        self.add(
            menu, "next_part", "&Next in the data", partial(self._controller.go_on, 1), "N",
            tip="The next of several sequences in the data",
        )  # fmt: skip
        self.add(menu, "previous_part", "&Previous in the data", partial(self._controller.go_on, -1), "Shift+N")
        menu.addSeparator()
        self.add(menu, "open_session", "Open s&ession…", files.ask_session, "Ctrl+Shift+O")
        self.add(menu, "save", "&Save session", files.save, "Ctrl+S", "save")
        self.add(menu, "save_as", "Save session &as…", files.save_as, "Ctrl+Shift+S")
        self.add(
            menu, "command", "&Copy as command", files.copy_command, "Ctrl+Shift+C", "copy",
            tip="Copy the command line that opens the window on this",
        )  # fmt: skip
        menu.addSeparator()
        self.add(
            menu, "export_view", "E&xport view…", files.export_view, "Ctrl+E", "export",
            tip="Save the view with the focus, or the stage, as a picture or as numbers",
        )  # fmt: skip
        self.add(
            menu, "export_captures", "Export ca&ptures…", files.export_captures, "Ctrl+Shift+E",
            tip="Save the values of every layer, of x and of the moved x, as safetensors",
        )  # fmt: skip
        self.add(menu, "export_data", "Export &data…", files.export_data, tip="Save the data at hand in another format")
        self.add(
            menu, "export_orbit", "Export orbit as &GIF/MP4…", files.export_orbit,
            tip="Make an animation, a film of the view while the element runs along its orbit",
        )  # fmt: skip
        turn = self.add(
            menu, "export_turntable", "Export &turntable as GIF/MP4…", files.export_turntable,
            tip="Make an animation, a film of one full turn of what the view in front shows",
        )  # fmt: skip
        menu.aboutToShow.connect(lambda: turn.setVisible(files.turns))
        menu.addSeparator()
        quit_action = self.add(menu, "quit", "&Quit", self._ask("quit"), "Ctrl+Q")
        quit_action.setMenuRole(QAction.MenuRole.QuitRole)

    def _fill_edit(self, menu: QMenu) -> None:
        controller = self._controller
        self.add(menu, "undo", "&Undo", controller.undo, "Ctrl+Z", "undo")
        self.add(menu, "redo", "&Redo", controller.redo, "Ctrl+Shift+Z|Ctrl+Y", "redo")
        menu.addSeparator()
        self.add(
            menu, "random", "Random element", controller.randomise, "Space", "random",
            tip="A random exact element: quarter turn, mirror, whole shift",
        )  # fmt: skip
        self.add(
            menu, "random_any", "Random element, any angle",
            partial(controller.randomise, exact=False), "Shift+Space",
        )  # fmt: skip
        self.add(
            menu,
            "invert",
            "&Invert element",
            controller.invert,
            "Ctrl+I",
            "invert",
            tip="Apply g⁻¹ instead of g",
        )
        self.add(menu, "reset", "Reset element", controller.reset, "Ctrl+0", "reset", tip="Back to the identity")
        menu.addSeparator()
        self.add(
            menu, "untransform", "&Untransform", controller.toggle_untransform, "U", "untransform", True,
            tip="Pull the answers back: show ρ′(g)⁻¹ F(ρ(g) x) beside F(x)",
        )  # fmt: skip

    def _fill_transform(self, menu: QMenu) -> None:
        controller = self._controller
        add = partial(self.add, menu)
        add("turn_left", "Rotate by 90° to the left", partial(controller.add_to, "rotate", 90.0), "[")
        add("turn_right", "Rotate by 90° to the right", partial(controller.add_to, "rotate", -90.0), "]")
        for side, right, down in ARROWS:
            shift = partial(controller.add_to, "translate", right, down, tag="nudge")
            action = add(f"shift_{side.lower()}", f"Shift {side.lower()} by 1 px", shift, side)
            # a key that lists and sliders need too works only while the stage has the focus
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        menu.addSeparator()
        for transform in sorted(transforms().values(), key=lambda one: one.title):
            self._add_transform(menu, transform)

    def _add_transform(self, menu: QMenu, transform: Transform) -> None:
        """Add a transform's own menu: its choices, or one step up and down of each number."""
        controller, name = self._controller, transform.name
        inner = menu.addMenu(f"{transform.title}  ({transform.symbol})")
        for k, param in enumerate(transform.params):
            for value, choice in enumerate(param.choices if len(transform.params) == 1 else ()):
                key = transform.key if value == 0 else ""
                self.add(
                    inner, f"{name}_{choice}", f"Apply {transform.title.lower()}: {choice}",
                    partial(controller.apply, name, (float(value),)), key, "reflect" if key == "F" else "",
                )  # fmt: skip
            if not param.choices:
                for sign, amount in (("+", param.step), ("−", -param.step)):
                    amounts = (0.0,) * k + (amount,)
                    self.add(
                        inner, f"{name}_{k}{sign}", f"{param.title} {sign}{param.step:g}{param.unit}",
                        partial(controller.add_to, name, *amounts, tag=f"{name} {k}"),
                    )  # fmt: skip
        if transform.orbit is not None:
            inner.addSeparator()
            orbit = partial(controller.change, {"orbit": name})
            self.add(inner, f"{name}_orbit", f"Run the orbit along {transform.title.lower()}", orbit)
        self.actions[f"menu_{name}"] = inner.menuAction()

    def _fill_view(self, menu: QMenu) -> None:
        shell = self._shell
        show, panels = menu.addMenu("&Show"), QMenu("&Panels", menu)
        panels.setProperty("twice", True)  # no part of the palette, which has "Show"
        for spec in sorted(shell.panes.specs, key=lambda one: one.title):
            action = self.add(
                show,
                f"show_{spec.name}",
                spec.title,
                partial(shell.show_view, spec.name),
                spec.key,
                tip=spec.summary,
            )
            action.setToolTip(spec.summary)
            if spec.name in shell.docks.docks:
                panels.addAction(shell.docks.docks[spec.name].toggleViewAction())
        menu.addMenu(panels)
        menu.addSeparator()
        self._themes = self._choices(menu.addMenu("&Theme"))
        self._themes.fill(THEMES, self.theme_chosen.emit)
        self.add(
            menu, "plain_words", "Plain &words", self._ask("plain_words"), checkable=True,
            tip="“moved input” in place of ρ(g)x, “here alone” in place of local, wherever they stand",
        )  # fmt: skip
        self.add(
            menu, "reduce_motion", "Reduce &motion", self._ask("reduce_motion"), checkable=True,
            tip="Nothing turns, pulses or slides that need not",
        )  # fmt: skip
        self.add(menu, "reset_layout", "&Reset layout", self._ask("reset_layout"))
        self.add(menu, "full_screen", "&Full screen", self._ask("full_screen"), "F11", checkable=True)

    def _fill_run(self, menu: QMenu) -> None:
        controller = self._controller
        self.add(
            menu, "play", "&Play orbit", controller.player.toggle, "P", "play",
            tip="Run the element along the orbit, round and round",
        )  # fmt: skip
        self._speeds = self._choices(menu.addMenu("Orbit &speed"))
        self._speeds.fill([(f"{s:g}", f"{s:g}×") for s in SPEEDS], lambda speed: self.speed_chosen.emit(float(speed)))
        self._speeds.mark("1")
        self.add(menu, "cancel", "&Cancel", self._ask("cancel"), "Esc", "close", tip="Give up what is being computed")
        menu.addSeparator()
        self.add(
            menu, "laws", "Which &symmetries does it keep?", self._test_laws,
            tip="Try every group that acts on this kind of data, in idle time",
        )  # fmt: skip
        menu.addSeparator()
        self._devices = self._choices(menu.addMenu("&Device"))
        self._devices.fill([("auto", "auto")], lambda name: controller.change({"device": name}))
        self._dtypes = self._choices(menu.addMenu("P&recision"))
        self._dtypes.fill([(d, d) for d in DTYPES], lambda name: controller.change({"dtype": name}))

    def _test_laws(self) -> None:
        """Ask which laws hold, and show what is found."""
        self._controller.change({"laws": True})
        self._shell.show_view("laws")

    def _fill_help(self, menu: QMenu) -> None:
        files = self._files
        self.lessons = menu.addMenu("&Lessons")
        guide = files.guide
        self.lessons.aboutToShow.connect(lambda: guide.fill_menu(self.lessons))
        self.lessons.menuAction().setEnabled(bool(guide.course.paths()))
        self.add(menu, "next_lesson", "&Next lesson", partial(guide.turn, 1))
        self.add(menu, "previous_lesson", "&Previous lesson", partial(guide.turn, -1))
        self.add(menu, "greeting", "W&elcome", self._ask("greeting"), tip="The card of the first start")
        self.add(menu, "palette", "&Command palette…", self._ask("palette"), "Ctrl+Shift+P", "palette")
        self.add(
            menu, "this_panel", "About this &panel", self._ask("this_panel"), "F1", "help",
            tip="What the panel with the focus shows, and the words that stand in it",
        )  # fmt: skip
        self.add(menu, "what", "&What is this?", self._ask("what"), "Shift+F1", tip="Click on what you wonder about")
        self.add(menu, "keys", "&Keyboard shortcuts", self._ask("keys"), "Ctrl+?")
        menu.addSeparator()
        about = self.add(menu, "about", "&About Equiscope", self._ask("about"))
        about.setMenuRole(QAction.MenuRole.AboutRole)

    # what depends on the catalogue ------------------------------------------------------------------------
    def show_catalogue(self, catalogue: Catalogue) -> None:
        self._followed = ()
        self._fill_model(catalogue)
        self._fill_data(catalogue)
        controller = self._controller
        devices = ["auto", *(d for d in catalogue.devices if d != "auto")]
        self._devices.fill([(d, d) for d in devices], lambda name: controller.change({"device": name}))

    def _fill_model(self, catalogue: Catalogue | None) -> None:
        menu, controller = self.menus["Model"], self._controller
        compare = self._compare
        menu.removeAction(compare.menu.menuAction())  # it stays, with other entries
        empty(menu)
        models = sorted(catalogue.models, key=by_row) if catalogue else []
        fill_by_domain(menu, self._models, models, controller.set_model)
        if not models:
            menu.addAction("Loading…").setEnabled(False)
        menu.addSeparator()
        self._fill_compare(controller.state.model)
        menu.addMenu(compare.menu)
        comparing = self._files.comparing
        self.add(
            menu, "compare_weights", "Compare with other &weights…", comparing.ask_weights,
            tip="The same network with the weights of another file, side by side and layer by layer",
        )  # fmt: skip
        self.add(
            menu, "compare_input", "Compare with another &input…", comparing.ask_input,
            tip="The same network on other data: how far apart are its layers?",
        )  # fmt: skip
        self.add(
            menu, "compare_held", "Compare with what is shown now, before a &change", comparing.hold,
            tip="Hold this run: after an edit, other parameters or other data, every layer is compared with it",
        )  # fmt: skip
        self.add(menu, "compare_off", "Compare with no other run", comparing.stop)
        self.add(menu, "alone", "Side by side &off", partial(controller.set_compare, ""))
        menu.addSeparator()
        self.add(
            menu, "input", "&Input of this model…", self._files.models.input_of_this,
            tip="Say what a network of your own takes: kind of data, sizes, which argument is which",
        )  # fmt: skip
        self.add(
            menu, "train", "&Train…", self._files.trainer.open,
            tip="Train this network again, from nothing, and open it with its new weights",
        )  # fmt: skip

    def _fill_compare(self, model: str) -> None:
        """Offer the models of the same kind of data: no other can be compared."""
        catalogue, compare = self._controller.catalogue, self._compare
        models = sorted(catalogue.models, key=by_row) if catalogue else []
        known = catalogue.by_name.get(model) if catalogue else None
        kind = None if known is None else known.domain
        empty(compare.menu)
        for action in compare.group.actions():
            compare.group.removeAction(action)
        others = [m for m in models if m.name != model and kind in (None, m.domain)]
        fill_by_domain(compare.menu, compare, others, self._controller.set_compare)
        own = [info for info in own_models(catalogue, self._shell.settings) if info.name != model] if catalogue else []
        if own:
            inner = compare.menu.addMenu("Your own")
            for info in own:
                inner.addAction(info.title.replace("&", "&&"), partial(self._files.models.beside, info.name))
        compare.menu.setIcon(icon("compare"))
        compare.menu.menuAction().setVisible(bool(others or own))

    def _fill_data(self, catalogue: Catalogue | None) -> None:
        menu, controller = self.menus["Data"], self._controller
        samples = catalogue.samples if catalogue else ()
        menu.removeAction(self.actions["open"])
        empty(menu)
        domains = sorted({s.domain for s in samples}, key=place_of)
        for domain in domains:
            inner = menu.addMenu(title_of(domain)) if len(domains) > 1 else menu
            pieces = parts([s for s in samples if s.domain == domain])
            for some in pieces:
                ends = f"{some[0].title}  …  {some[-1].title}".replace("&", "&&")
                part = Choices(inner.addMenu(ends) if len(pieces) > 1 else inner, self._samples.group)
                items = [(s.name, s.title.replace("&", "&&")) for s in some]
                part.fill(items, lambda name: controller.change({"sample": name}), clear=False)
        menu.addSeparator()
        self.add(
            menu, "fill", "&Fill the input…", self._files.filling.ask,
            tip="Noise, a ramp or one number in the shape that the network takes, or a file for each input by name",
        )  # fmt: skip
        menu.addAction(self.actions["open"])

    # following the state ----------------------------------------------------------------------------------
    def show_state(self, state: State) -> None:
        """Tick what is in use and grey out what would do nothing."""
        controller, actions = self._controller, self.actions
        undoable = (controller.can_undo, controller.can_redo, bool(state.steps), state.untransform)
        chosen = (state.model, state.compare, state.sample, state.device, state.dtype)
        followed = (controller.domain, pieces := controller.pieces, *undoable, *chosen)
        if followed == self._followed:
            return  # most of a drag, and there are a hundred actions
        before, self._followed = self._followed, followed
        actions["undo"].setEnabled(controller.can_undo)
        actions["redo"].setEnabled(controller.can_redo)
        for name in ("invert", "reset"):
            actions[name].setEnabled(bool(state.steps))
        for name in ("next_part", "previous_part"):
            actions[name].setEnabled(pieces > 1)
        actions["untransform"].setChecked(state.untransform)
        actions["alone"].setVisible(bool(state.compare))
        actions["input"].setVisible(code_of(state.model) is not None)
        actions["train"].setVisible(self._files.trainer.offered)
        self._models.mark(state.model)
        if before[6:7] != (state.model,):
            self._fill_compare(state.model)
        self._compare.mark(next(iter(state.compared), ""))
        self._samples.mark(state.sample)
        self._devices.mark(state.device)
        self._dtypes.mark(state.dtype)
        domain = controller.domain
        for transform in transforms().values():
            actions[f"menu_{transform.name}"].setVisible(domain in transform.domains)
        for names, needed in ((("turn_left", "turn_right"), "rotate"), (_SHIFTS, "translate")):
            fits = needed in transforms() and domain in transforms()[needed].domains
            for name in names:
                actions[name].setVisible(fits)

    def _follow_views(self) -> None:
        """Offer the panels that have something to say of what is shown, as tabs and docks do."""
        offered = {spec.name: self._shell.offers(spec.name) for spec in self._shell.panes.specs}
        if offered == self._offered:
            return  # in a drag, with every frame
        self._offered = offered
        for name, shown in offered.items():
            self.actions[f"show_{name}"].setVisible(shown)
            if (dock := self._shell.docks.docks.get(name)) is not None:
                dock.toggleViewAction().setVisible(shown)

    def show_playing(self, playing: bool) -> None:
        action = self.actions["play"]
        action.setText("&Pause orbit" if playing else "&Play orbit")
        self._icons["play"] = "pause" if playing else "play"
        action.setIcon(icon(self._icons["play"]))

    def show_speed(self, speed: float) -> None:
        self._speeds.mark(f"{speed:g}")

    def show_theme(self, choice: str) -> None:
        self._themes.mark(choice)
        for name, picture in self._icons.items():
            self.actions[name].setIcon(icon(picture))
        self._compare.menu.setIcon(icon("compare"))


_SHIFTS = tuple(f"shift_{side.lower()}" for side, _, _ in ARROWS)
