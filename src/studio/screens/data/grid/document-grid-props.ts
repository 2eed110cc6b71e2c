import { type ReactNode, useRef, useState } from 'react'
import type { Document } from '../../../../shared/api/data/documents.ts'
import type { ShownPage } from '../../../controls/lists/use-record-page.ts'
import type { GridColumn } from './grid-column.ts'
import type { ColumnActions } from './grid-head.tsx'
import type { CellEdits } from './use-cell-edits.ts'
import type { Append } from './use-grid-edit.ts'
import type { ReferenceNames } from './use-reference-names.ts'

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
  readonly onAppend: Append
  readonly empty: ReactNode
}

export interface RowSelection {
  /** Of the selected documents, also of other pages. */
  readonly guids: ReadonlySet<string>
  /** All documents that match, also those that no page has shown yet. */
  readonly isAll: boolean
  /** Of the rows of this page. */
  readonly here: 'none' | 'some' | 'all'
  has(guid: string): boolean
  /** `extend`: all rows between the last one that was selected and this one. */
  toggle(row: number, extend: boolean): void
  togglePage(): void
  selectAll(): void
  clear(): void
}

const none: ReadonlySet<string> = new Set()

/** Which documents are selected. `list`: what is listed; another list begins without a selection. */
export function useRowSelection(records: readonly Document[], list: string): RowSelection {
  const [state, setState] = useState({ list, guids: none, isAll: false })
  const last = useRef('')
  const { guids, isAll } = state.list === list ? state : { guids: none, isAll: false }
  const keep = (next: ReadonlySet<string>, all = false) => setState({ list, guids: next, isAll: all })
  const here = records.filter(({ _meta }) => isAll || guids.has(_meta.guid)).length
  const guidAt = (row: number) => records[row]?._meta.guid
  return {
    guids,
    isAll,
    here: here === 0 ? 'none' : here === records.length ? 'all' : 'some',
    has: (guid) => isAll || guids.has(guid),
    toggle(row, extend) {
      const next = new Set(isAll ? records.map(({ _meta }) => _meta.guid) : guids)
      const guid = guidAt(row)
      if (guid === undefined) return
      const yes = !next.has(guid)
      const before = extend ? records.findIndex(({ _meta }) => _meta.guid === last.current) : -1
      const [from, to] = before < 0 ? [row, row] : [Math.min(before, row), Math.max(before, row)]
      for (let at = from; at <= to; at += 1) {
        const one = guidAt(at)
        if (one === undefined) continue
        if (yes || extend) next.add(one)
        else next.delete(one)
      }
      last.current = guid
      keep(next)
    },
    togglePage() {
      const next = new Set(guids)
      for (const { _meta } of records)
        if (here === records.length) next.delete(_meta.guid)
        else next.add(_meta.guid)
      keep(isAll ? none : next)
    },
    selectAll: () => keep(none, true),
    clear: () => keep(none),
  }
}
