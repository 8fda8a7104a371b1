"""How a program is captured: the rooms where torch may be imported."""
