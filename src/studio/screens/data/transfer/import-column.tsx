import { NativeSelect, Stack, Text } from '@mantine/core'
import type { ImportPreview } from '../../../../shared/api/data/documents.ts'
import { type ColumnFormat, columnFormats } from '../../../../shared/rows/recognized-table.ts'
import { transferTexts } from '../../../texts/transfer.ts'
import type { FileReading } from './import-file.ts'

type FoundColumn = ImportPreview['columns'][number]

interface ImportColumnProps {
  readonly found: FoundColumn
  /** Its place, from 0. */
  readonly at: number
  /** Of the fields of the storage. */
  readonly names: readonly string[]
  readonly reading: FileReading
  readonly onMap: (field: string | null) => void
  readonly onFormat: (format: ColumnFormat) => void
}

/** Where a column of a file goes, and how its numbers or days are read. */
export function ImportColumn({ found, at, names, reading, onMap, onFormat }: ImportColumnProps) {
  const { column, field } = found
  const { mapping } = reading
  const isNamed = column.trim() !== ''
  const isMapped = Object.hasOwn(mapping, column)
  const chosen = isMapped ? mapping[column] : field
  return (
    <Stack gap={4}>
      <NativeSelect
        size="xs"
        label={isNamed ? column.slice(0, 60) : transferTexts.unnamedColumn(at + 1)}
        value={isNamed || isMapped ? (chosen ?? '') : UNNAMED}
        data={isNamed ? choices(names, column, field) : unnamed(isMapped)}
        onChange={(event) => onMap(event.currentTarget.value || null)}
      />
      <Format found={found} chosen={formatOf(reading, column)} onFormat={onFormat} />
    </Stack>
  )
}

function formatOf({ formats }: FileReading, column: string): ColumnFormat | undefined {
  return Object.hasOwn(formats, column) ? formats[column] : undefined
}

function choices(names: readonly string[], column: string, field: string | null) {
  const offered = [...new Set([...names, ...(field === null ? [] : [field]), column])]
  return [
    { value: '', label: transferTexts.leftOut },
    ...offered.filter((name) => name !== '').map((name) => ({ value: name, label: name })),
  ]
}

const UNNAMED = ' '

/** A column without a name must be empty, unless it is said to be left out. */
function unnamed(isLeftOut: boolean) {
  return isLeftOut
    ? [{ value: '', label: transferTexts.leftOut }]
    : [
        { value: UNNAMED, label: transferTexts.mustBeEmpty },
        { value: '', label: transferTexts.leftOut },
      ]
}

interface FormatProps {
  readonly found: FoundColumn
  readonly chosen: ColumnFormat | undefined
  readonly onFormat: (format: ColumnFormat) => void
}

function Format({ found: { column, format }, chosen, onFormat }: FormatProps) {
  if (!format) return null
  const { sample, readings } = format
  const value = chosen ?? format.format
  const isOfNumbers = readings.some((one) => one.format === 'point' || one.format === 'comma')
  const offered = columnFormats.filter((one) => (one === 'point' || one === 'comma') === isOfNumbers)
  return (
    <>
      <NativeSelect
        size="xs"
        aria-label={transferTexts.formatOf(column)}
        error={value === undefined}
        value={value ?? ''}
        data={[
          ...(value === undefined ? [{ value: '', label: transferTexts.chooseFormat }] : []),
          ...offered.map((one) => ({ value: one, label: transferTexts.formats[one] })),
        ]}
        onChange={(event) => {
          const next = columnFormats.find((one) => one === event.currentTarget.value)
          if (next) onFormat(next)
        }}
      />
      {readings
        .filter((one) => value === undefined || one.format === value)
        .map((one) => (
          <Text key={one.format} size="xs" c={value === undefined ? 'red' : 'dimmed'} fw={400}>
            {transferTexts.reading(sample, one.value === null ? undefined : String(one.value))}
          </Text>
        ))}
    </>
  )
}
