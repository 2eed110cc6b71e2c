import type { ReactNode } from 'react'
import type { Document } from '../../../../shared/api/data/documents.ts'
import type { ShownPage } from '../../../controls/lists/use-record-page.ts'
import type { GridColumn } from './grid-column.ts'
import type { ColumnActions } from './grid-head.tsx'
import type { CellEdits } from './use-cell-edits.ts'
import type { ReferenceNames } from './use-reference-names.ts'
import type { RowSelection } from './use-row-selection.ts'

export interface DocumentGridProps {
  readonly label: string
  readonly shown: ShownPage<Document>
  readonly columns: readonly GridColumn[]
  readonly names: ReferenceNames
  readonly selection: RowSelection
  readonly edits: CellEdits
  readonly actions: ColumnActions
  /** Removed documents are only shown. */
  readonly canWrite: boolean
  readonly hrefOf: (guid: string) => string
  readonly onAppend: (rows: readonly ReadonlyMap<string, unknown>[]) => void
  readonly empty: ReactNode
}
