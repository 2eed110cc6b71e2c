import { Badge } from '@mantine/core'
import { gridTexts } from '../../../texts/grid.ts'
import { cellText } from './cell-text.ts'
import { FileCell } from './file-cell.tsx'
import classes from './grid.module.css'
import type { GridColumn } from './grid-column.ts'
import type { ReferenceNames } from './use-reference-names.ts'

interface CellValueProps {
  readonly column: GridColumn
  readonly value: unknown
  readonly names: ReferenceNames
}

/** What a cell holds, by the type of its field. */
export function CellValue({ column, value, names }: CellValueProps) {
  if (value === undefined || value === null) return null
  if (typeof value === 'boolean')
    return <Badge color={value ? 'green' : 'gray'}>{value ? gridTexts.yes : gridTexts.no}</Badge>
  if (column.kind === 'files') return <FileCell value={value} />
  const { text, exact } = cellText(column, value, names)
  if (column.kind === 'choice')
    return (
      <Badge color="petrol" tt="none">
        {text}
      </Badge>
    )
  return (
    <span className={classes.text} title={exact}>
      {text}
    </span>
  )
}
