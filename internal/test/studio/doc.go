// Package studio visits the studio at / with a real browser.
package studio
