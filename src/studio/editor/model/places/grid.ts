/** Blocks stand on multiples of it, in pixels of the canvas. */
const GRID = 10

export function onGrid({ x, y }: { readonly x: number; readonly y: number }): { x: number; y: number } {
  return { x: Math.round(x / GRID) * GRID, y: Math.round(y / GRID) * GRID }
}
