//go:build tools

// Package helm names the program that the chart is tested with, for go.mod.
package helm

import _ "helm.sh/helm/v3/cmd/helm"
