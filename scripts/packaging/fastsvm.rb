# A formula for a Homebrew tap, which builds main: `brew install --HEAD fastsvm`. A release adds the `url` and `sha256`
# of its sdist, and a resource for each package that pip installs here. It was never built.
class Fastsvm < Formula
  include Language::Python::Virtualenv

  desc "Compile LIBSVM models into models that predict ten or more times faster"
  homepage "https://github.com/fastsvm/fastsvm"
  license "BSD-3-Clause"
  head "https://github.com/fastsvm/fastsvm.git", branch: "main"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "numpy"
  depends_on "python@3.14"
  depends_on "scipy"

  def install
    virtualenv_create(libexec, "python3.14", without_pip: false)
    system libexec/"bin/pip", "install", "--no-cache-dir", buildpath
    bin.install_symlink Dir[libexec/"bin/fastsvm*"]
    man1.install_symlink Dir[libexec/"share/man/man1/*.1"]
    bash_completion.install_symlink libexec/"share/bash-completion/completions/fastsvm"
    fish_completion.install_symlink libexec/"share/fish/vendor_completions.d/fastsvm.fish"
    zsh_completion.install_symlink libexec/"share/zsh/site-functions/_fastsvm"
  end

  test do
    (testpath/"model").write <<~MODEL
      svm_type c_svc
      kernel_type rbf
      gamma 0.1
      nr_class 2
      total_sv 2
      rho 0
      label 1 -1
      nr_sv 1 1
      SV
      1 1:1 2:1
      -1 1:-1 2:-1
    MODEL
    (testpath/"rows").write <<~ROWS
      1 1:0.5 2:0.5
      -1 1:-0.5
    ROWS
    system bin/"fastsvm", "approx", "--quiet", "model", "compiled"
    assert_equal "1\n-1\n", shell_output("#{bin}/fastsvm predict --quiet rows compiled")
    assert_equal "1\n-1\n", shell_output("#{bin}/fastsvm-predict -q rows model")
    assert_path_exists man1/"fastsvm-approx.1"
  end
end
