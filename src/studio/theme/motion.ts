/** Milliseconds that a movement of the canvas takes: none for people whose machine is set to less motion. */
export function moving(milliseconds: number): number {
  return matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : milliseconds
}
