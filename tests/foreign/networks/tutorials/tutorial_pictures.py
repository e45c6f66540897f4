"""Pictures: blocks of known papers, conditions, codes, masks, several answers, turns and mirrors."""

from __future__ import annotations

from functools import partial

from tests.foreign.case import Given, drawn
from tests.foreign.networks.tutorials.twins import twins

T = "translation"
GRID, FIXED = ("grid",), ("fixed",)


def picture(side=32, step=1):
    return Given((drawn(2, 3, side, side),), GRID, step=step)


seen, more, turned = (partial(twins, name) for name in ("pictures", "more_pictures", "turned"))
BY_TWO, BY_FOUR = partial(picture, step=2), partial(picture, step=4)
CASES = (
    *seen("convnext", {"convnext_rows": "2"}, picture, T, FIXED),
    *seen("neighbour", {"neighbour_reflect": "attn", "swin_shifted": "attn"}, picture, T, GRID),
    *seen("unet", {"unet_align": "up2"}, BY_FOUR, T, GRID),
    *seen("espcn", {"espcn_reflect": "conv3"}, picture, T, ("grid@0.5",)),
    *seen("gfnet", {"gfnet_late": "filter"}, picture, T, FIXED),
    *seen("fno", {"fno_grid": "lift"}, picture, T, GRID),
    *seen("deform", {"deform_zeros": "2"}, picture, T, GRID),
    *seen("senet", {"senet_crop": "4"}, picture, T, GRID),
    *more("capsnet", {"capsnet_lean": "2"}, picture, T, FIXED),
    *more("film", {"film_corner": "gen"}, picture, T, GRID),
    *more("hyper", {"hyper_centre": "2"}, picture, T, GRID),
    *more("stylegan", {"stylegan_fixed": "5"}, picture, T, GRID),
    *more("masked_none", {"masked_row": "conv2"}, picture, T, GRID),
    *more("mixer_channels", {"mixer": "token_mix"}, BY_FOUR, T, FIXED),
    *more("detector", {"detector_anchors": "output"}, BY_TWO, T, ("grid@2", "grid@2", "fixed")),
    *more("involution", {"involution_off": "3"}, picture, T, GRID),
    *more("vq", {"vq_lean": "3"}, BY_TWO, T, GRID),
    *turned("symconv", {"symconv_three": "3", "symconv_stride": "2"}, picture, "C4", FIXED),
    *turned("frame_average", {"frame_average_wrong": "output"}, picture, "D4", GRID),
    *turned("blur", {"blur_even": "2"}, picture, "C4", ("grid@2",), limit=1e-6),
    *turned("edges", {"edges_forward": "0"}, picture, "C4", GRID),
    *turned("bilateral", {"bilateral_off": "output"}, picture, "D4", GRID),
)
