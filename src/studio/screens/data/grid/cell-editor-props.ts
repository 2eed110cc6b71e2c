import type { GridColumn } from './grid-column.ts'

export interface CellEditorProps {
  readonly column: GridColumn
  readonly value: unknown
  /** What was typed to begin with; it replaces the value. */
  readonly typed: string | undefined
  /** Text as typed for inputs; `move`: where the cursor goes then. */
  readonly onText: (text: string, move: Move) => void
  /** A value that was chosen. */
  readonly onValue: (value: unknown, move: Move) => void
  readonly onCancel: () => void
}

export type Move = 'down' | 'next' | 'previous' | 'stay'
