/** A straight line through the first and the last of some measured points, which those between check. */
export interface StraightLine {
  at(x: number): number
  /** The largest distance of a point between the two from the line, as a share of what was measured there. */
  readonly off: number
}

export function straightLine(points: readonly (readonly [number, number])[]): StraightLine {
  const first = points.at(0)
  const last = points.at(-1)
  if (first === undefined || last === undefined || first[0] === last[0])
    throw new RangeError('A line needs two points.')
  const slope = (last[1] - first[1]) / (last[0] - first[0])
  const at = (x: number) => first[1] + slope * (x - first[0])
  const offs = points.slice(1, -1).map(([x, y]) => Math.abs(at(x) - y) / Math.abs(y))
  return { at, off: Math.max(0, ...offs) }
}
