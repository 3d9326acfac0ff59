//go:build tools

// Package tools names the commands which build.mjs builds, so that `go mod tidy` keeps their sums.
package tools

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
