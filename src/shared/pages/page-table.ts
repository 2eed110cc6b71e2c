/** Tables of a page. See `page-content.ts`. */
import type { JsonValue } from '../json.ts'
import type { Query, SortKey } from '../query.ts'
import type { ValueFormat } from '../value-format.ts'
import type { InputOption, InputType } from './page-input.ts'

export interface TableColumn {
  readonly field: string
  readonly label: string
  readonly format: ValueFormat
  /** The expression that says what is shown in place of the field's value. */
  readonly cell?: string
  readonly sortable: boolean
  /** How it is filtered; undefined: not. */
  readonly filter?: 'text' | 'choice' | 'number' | 'date' | 'boolean'
  readonly options?: readonly InputOption[]
  /** Not shown until the visitor chooses it. */
  readonly hidden?: boolean
  /** ISO 4217, for `currency`. */
  readonly currency?: string
}

export interface TableAction {
  readonly name: string
  readonly label: string
  readonly confirm?: string
  readonly tone?: 'plain' | 'danger'
  /** Offered for one row, for the chosen rows, or both. */
  readonly for: 'row' | 'rows' | 'both'
}

/** As the block makes it: what is to be shown. The door reads the address, searches, and makes a {@link PageTable} of it. */
export interface DataTable {
  readonly kind: 'datatable'
  /** See `PageNode`. */
  readonly madeBy?: string
  readonly id: string
  readonly block: string
  readonly caption: string
  readonly storage: string
  readonly query: Query
  readonly sort: readonly SortKey[]
  readonly columns: readonly TableColumn[]
  readonly pageSize: number
  readonly searchable: boolean
  /** Such as `/tasks/{_meta.guid}`. */
  readonly rowLink?: string
  readonly actions: readonly TableAction[]
  /** Set by the door: what an action does to its row, where permissions decide on each document whether the visitor may. */
  readonly rowWrite?: { readonly storage: string; readonly rule: 'change' | 'remove' }
  readonly exportable: boolean
  readonly live: boolean
  readonly empty?: string
}

export interface TableRow {
  /** Guid of the document. */
  readonly key: string
  readonly href?: string
  /** One for each shown column. */
  readonly cells: readonly JsonValue[]
  /** Permissions refuse the visitor its actions. */
  readonly isFixed?: true
}

export interface ShownColumn extends Pick<TableColumn, 'field' | 'label' | 'format' | 'currency'> {
  readonly sorted?: 'asc' | 'desc'
  /** Sorts by it, or the other way round; undefined: not sortable. */
  readonly sortHref?: string
}

/** An input of one of the table's forms that send by GET. */
export interface TableInput {
  readonly name: string
  readonly label: string
  readonly type: Extract<InputType, 'text' | 'number' | 'date' | 'choice' | 'check'>
  readonly value: string
  readonly options?: readonly InputOption[]
  /** The search box over all text. The others are filters. */
  readonly free?: boolean
  /** For `check`. */
  readonly checked?: boolean
}

type Hidden = readonly { readonly name: string; readonly value: string }[]

export interface PageTable {
  readonly kind: 'table'
  /** See `PageNode`. */
  readonly madeBy?: string
  readonly id: string
  readonly caption: string
  readonly columns: readonly ShownColumn[]
  readonly rows: readonly TableRow[]
  readonly empty?: string
  /** In a mail: there are further rows, which it does not show. */
  readonly more?: boolean
  /** What follows is only there for data tables. */
  readonly total?: number
  /** The documents shown, from 1: `from`–`to` of `total`. */
  readonly from?: number
  readonly to?: number
  readonly pages?: {
    readonly page: number
    readonly count: number
    readonly first?: string
    readonly previous?: string
    readonly next?: string
    readonly last?: string
    /** Some around the page, the first and the last one. A gap between numbers is a gap. */
    readonly numbers: readonly { readonly page: number; readonly href: string; readonly current: boolean }[]
  }
  /** Sent by GET to `action`. One form: search and filters together. `active`: whether any of them is set. */
  readonly search?: {
    readonly action: string
    readonly hidden: Hidden
    readonly inputs: readonly TableInput[]
    readonly active: boolean
    /** Takes all of them away. */
    readonly clearHref: string
  }
  /** Which columns are shown; also sent by GET. */
  readonly columnChoice?: {
    readonly action: string
    readonly hidden: Hidden
    readonly inputs: readonly TableInput[]
  }
  readonly exportHref?: string
  /** Sent by POST. A row's button has the name `rowName` and the value `<action> <row key>`; a check box `rowsName`; a bulk button `bulkName`. */
  readonly actions?: {
    readonly action: string
    readonly hidden: Hidden
    readonly row: readonly TableAction[]
    readonly rows: readonly TableAction[]
    readonly rowName: string
    readonly rowsName: string
    readonly bulkName: string
  }
  /** It changes when its documents change: see `PageView.events`. */
  readonly live?: boolean
}
