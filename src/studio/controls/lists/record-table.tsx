import { Table } from '@mantine/core'
import type { ReactNode } from 'react'
import { controlsTexts } from '../../texts/controls.ts'
import { ErrorNotice } from '../error-notice.tsx'
import type { Column } from './column.ts'
import { ListFooter } from './list-footer.tsx'
import { RecordRow } from './record-row.tsx'
import classes from './record-table.module.css'
import { SkeletonRows } from './skeleton-rows.tsx'
import { SortHeader } from './sort-header.tsx'
import { type RecordPageOptions, useRecordPage } from './use-record-page.ts'

interface RecordTableProps<T> extends RecordPageOptions<T> {
  /** What the table holds, for screen readers. */
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly keyOf: (record: T) => string
  /** Where a click on the row goes; the link is in the first column. */
  readonly hrefOf?: (record: T) => string
  /** Shown in place of rows where there are none. */
  readonly empty: ReactNode
  /** Pixels below which it scrolls sideways. */
  readonly minWidth?: number
}

/** A page of records: sorted, searched and paged by the server, as the address says. */
export function RecordTable<T>(props: RecordTableProps<T>) {
  const { columns } = props
  const shown = useRecordPage(props)
  const { data, error, isPending, isPlaceholderData, refetch, address, readdress } = shown
  if (error && !data)
    return <ErrorNotice error={error} title={controlsTexts.couldNotLoadList} onRetry={refetch} />
  return (
    <>
      {error ? (
        <ErrorNotice error={error} title={controlsTexts.couldNotReloadList} onRetry={refetch} />
      ) : null}
      <div className={`surface ${classes.frame}`} aria-busy={isPending || isPlaceholderData}>
        <Table.ScrollContainer minWidth={props.minWidth ?? 640} type="native">
          <Table aria-label={props.label} className={isPlaceholderData ? classes.stale : undefined}>
            <Table.Thead>
              <Table.Tr>
                {columns.map((column) => (
                  <SortHeader key={column.id} column={column} sort={address.sort} readdress={readdress} />
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {isPending ? (
                <SkeletonRows columns={columns.length} rows={8} />
              ) : (
                (data?.records ?? []).map((record) => (
                  <RecordRow
                    key={props.keyOf(record)}
                    record={record}
                    columns={columns}
                    hrefOf={props.hrefOf}
                  />
                ))
              )}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
        {data && data.records.length === 0 ? <div className={classes.empty}>{props.empty}</div> : null}
      </div>
      <ListFooter shown={shown} />
    </>
  )
}
