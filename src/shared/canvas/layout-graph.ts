/** What the automatic layout knows of a drawing: boxes, and what leads from one to another. */
export interface LayoutBlock {
  readonly id: string
  readonly width: number
  readonly height: number
  /** A trigger begins a lane; a value stands just before what uses it. */
  readonly kind: 'trigger' | 'flow' | 'value'
}

export interface LayoutLink {
  readonly from: string
  readonly to: string
  /** From the top of each block to its pin. */
  readonly fromY: number
  readonly toY: number
  /** `flow`: the next step, on one line where it can be. `branch`: another way out. `value`: a wire. `read`: by an expression. */
  readonly kind: 'flow' | 'branch' | 'value' | 'read'
}

export interface Place {
  readonly x: number
  readonly y: number
}

export function isSignal({ kind }: LayoutLink): boolean {
  return kind === 'flow' || kind === 'branch'
}
