import type { ReactNode } from 'react'

export interface Column<T> {
  readonly id: string
  readonly label: ReactNode
  /** The field that the server sorts by; without one the column cannot be sorted. */
  readonly sort?: string
  readonly numeric?: boolean
  readonly width?: number | string
  readonly render: (record: T) => ReactNode
}
