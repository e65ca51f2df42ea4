// labels.go: cgo allows no Go pointer inside memory passed to C, so C code fills in the rows.
package main

// #cgo pkg-config: fastsvm
// #include <stdlib.h>
// #include <fastsvm.h>
// static fastsvm_status dense(const fastsvm_model* model, const double* numbers, int64_t count, int64_t columns,
//                             double* labels, fastsvm_error* error) {
//     fastsvm_rows rows = {.count = count, .doubles = numbers, .columns = columns, .stride = columns};
//     return fastsvm_predict(model, &rows, labels, error);
// }
import "C"

import (
	"fmt"
	"log"
	"os"
	"unsafe"
)

func main() {
	var model *C.fastsvm_model
	var failure C.fastsvm_error
	path := C.CString(os.Args[1])
	defer C.free(unsafe.Pointer(path))
	if C.fastsvm_load(path, &model, &failure) != C.FASTSVM_OK {
		log.Fatal(C.GoString(&failure.text[0]))
	}
	defer C.fastsvm_free(model)
	numbers := []C.double{0.5, -1, 2, -1, 0.25, 0}
	labels := make([]C.double, 2)
	if C.dense(model, &numbers[0], 2, 3, &labels[0], &failure) != C.FASTSVM_OK {
		log.Fatal(C.GoString(&failure.text[0]))
	}
	for _, label := range labels {
		fmt.Println(label)
	}
}
