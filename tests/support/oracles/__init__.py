"""Every formula again, written to be read: slow, dense, in extended precision, without code of the package. A row is a
dict {LIBSVM index: value}."""

from support.oracles.border import *
from support.oracles.exact import *
from support.oracles.libsvm_order import *
from support.oracles.machine import *
from support.oracles.maclaurin import *
from support.oracles.ordered import *
from support.oracles.trials import *
