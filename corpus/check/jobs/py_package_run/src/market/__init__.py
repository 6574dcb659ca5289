from .agents import Trader as Trader
