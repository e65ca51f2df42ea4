# labels.R: labels by fastsvm_r.c.
dyn.load("./fastsvm_r.so")
buffer <- strrep(" ", 488)
model <- .C("r_load", commandArgs(TRUE)[1], handle = raw(8), text = buffer)
if (nzchar(model$text)) stop(model$text)
x <- rbind(c(0.5, -1, 2), c(-1, 0.25, 0))  # R keeps a matrix by columns: rows of t(x) are handed over
found <- .C("r_predict", model$handle, as.double(t(x)), ncol(x), nrow(x), labels = double(nrow(x)), text = buffer)
if (nzchar(found$text)) stop(found$text)
cat(found$labels, sep = "\n")
