// The help of fastsvm-predict, which scripts/update_reference.py writes from that of `fastsvm predict`.
#pragma once

namespace fastsvm {

inline constexpr const char* help_text = R"(Usage: fastsvm-predict [options] test_file model_file [output_file]

Predict rows with any model file, exact or compiled, as svm-predict does.
A - as file is standard input, or standard output, which is also the default.

Options:
  -b, --probability 0|1  Predict probabilities too (1), as svm-predict -b 1.
                         [default: 0]
  -q, --quiet            Print no summary, warnings or progress bar.
  --exact MODEL          LIBSVM model that MODEL_FILE was made from, by approx
                         --certify or reduce. It evaluates the rows whose label
                         is not proven, so that every label is svm-predict's.
  --threads N            Number of threads, 0 for all. [default: all available
                         processors]
  -h, --help             Show this message and exit.
  --version              Show the version and exit.

Output:
  --values             Append the decision values, one per pair of classes in
                       the order of the model's labels (1/2, 1/3, ..., 2/3,
                       ...), then the radii of a certified model.
  --evaluations        Append the number of kernel evaluations, repeated ones
                       included. For models of fastsvm order.
  --json               Print the summary as one line of JSON; on standard error
                       if the rows go to standard output.
  --open-rows FILE     Output file for rows whose label a certified model
                       leaves unproven, as LIBSVM data with line numbers (1
                       3:0.5 # 17); with --exact, these were evaluated exactly.
                       Rows of --unlabelled data get the label 0.
  --outside-rows FILE  Output file for rows outside the bound of an RBF
                       expansion (Claesen et al., eq. 3.11), in the same
                       format.

Early stops:
  --tolerance E  Largest error of a regression value. With --exact, rows with a
                 larger radius are evaluated exactly (with --open-rows,
                 written); with an ordered model, rows stop once proven within
                 E of svm-predict's value.
  --steps K      Number of points after which every row stops (fastsvm order
                 --method geometry). --values then prints value, radius and the
                 probability of a positive value (DeCoste, eq. 32). Labels may
                 differ from svm-predict's where the radius reaches beyond
                 zero.

Checks:
  --audit SHARE         Give this share of the rows (0.01 or 1%), a random
                        sample, to the exact model too, and count the labels
                        that differ. The output lines stay MODEL_FILE's.
                        --exact names the exact model, which then does only
                        this; a cascade contains its exact model.
  --max-disagreement P  With --audit: largest share of rows that may get
                        another label than the exact model's. If the upper
                        bound at 95 % confidence is larger, the exit code is 3.
  --seed S              Seed of the sample of --audit. [default: 0]
  --fail-on-empty       Exit with code 1 if no row is predicted, and leave
                        OUTPUT_FILE as it was.

Rows and scaling:
  --on-bad-row stop|skip|nan  Action on a malformed line, or on a row that the
                              model cannot evaluate: stop the run, skip the
                              row, or write a line of nan. skip and nan name
                              the first ten and count all. [default: stop]
  --scale RANGE_FILE          Range file of svm-scale, or scale file of
                              write.svm (R's e1071). Rows are scaled while they
                              are read; with a range file, to the same bytes as
                              svm-scale -r.
  --y-scale FILE              The y scale file that R's write.svm wrote beside
                              the scale file, for regression. It scales the
                              labels, so that the summary is in the unit of the
                              predictions.
  --dense                     Read delimited numbers: a label, then the values
                              of features 1, 2, ... or, if the model has a
                              feature 0, of 0, 1, ...
  --delim C                   Delimiter of --dense. A blank matches any run of
                              blanks; \t is a tab. [default: ,]
  --unlabelled                Read rows without labels.
  --max-line MB               Maximum length of a line; a longer one is
                              malformed. Takes a few times as much memory.
                              [default: 256]

Long jobs and clusters are fastsvm predict's, of the Python package.
)";

}  // namespace fastsvm
