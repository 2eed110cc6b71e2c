import { Button, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { wordsOfField } from '../../../../shared/fields/field-names.ts'
import type { JsonObject, JsonValue } from '../../../../shared/json.ts'
import type { RowParts } from '../../../../shared/rows/row-part.ts'
import { fieldsQuery, inOrder } from '../../../api/storages.ts'
import { propertiesTexts } from '../../../texts/properties.ts'
import { RowForm } from './row-form.tsx'
import classes from './rows.module.css'
import { MOST_ROWS, mainPart, movedRow, writeRows } from './written-rows.ts'

interface RowsInputProps {
  /** Name of the pin or setting. */
  readonly name: string
  readonly parts: RowParts
  readonly rows: readonly JsonObject[]
  /** The storage whose fields are suggested; empty: none. */
  readonly storage: string
  readonly onChange: (value: JsonValue | undefined) => void
}

/** A list of objects as rows: added, changed, moved and removed; the fields of a storage in one step. */
export function RowsInput({ name, parts, rows, storage, onChange }: RowsInputProps) {
  const { key } = mainPart(parts)
  const takesFields = parts[key]?.kind === 'field'
  const { data: known = [] } = useQuery({ ...fieldsQuery(storage), enabled: takesFields && storage !== '' })
  const fields = inOrder(known).map((one) => one.name)
  const missing = fields.filter((field) => !rows.some((row) => row[key] === field))
  // Of an input: people choose a document by its name, and do not type its guid.
  const references = new Set(known.filter(({ reference }) => reference).map((one) => one.name))
  const isOfInputs = parts.type?.choices?.includes('choice') === true
  const rowFor = (field: string): JsonObject => ({
    [key]: field,
    ...(isOfInputs && references.has(field) && { type: 'choice' }),
  })
  const set = (next: readonly JsonObject[]) => onChange(writeRows(next, parts))
  const room = MOST_ROWS - rows.length
  return (
    <Stack gap={6}>
      <ol className={classes.rows} aria-label={wordsOfField(name)}>
        {rows.map((row, at) => (
          <RowForm
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name, and may be equal
            key={at}
            row={row}
            number={at + 1}
            parts={parts}
            fields={fields}
            onChange={(next) => set(rows.with(at, next))}
            onRemove={() => set(rows.toSpliced(at, 1))}
            onUp={at === 0 ? undefined : () => set(movedRow(rows, at, -1))}
            onDown={at === rows.length - 1 ? undefined : () => set(movedRow(rows, at, 1))}
          />
        ))}
      </ol>
      <Group gap={6}>
        <Button
          size="compact-xs"
          variant="default"
          disabled={room === 0}
          onClick={() => set([...rows, { [key]: '' }])}
        >
          {propertiesTexts.addARow}
        </Button>
        {missing.length > 0 && room > 0 ? (
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => set([...rows, ...missing.slice(0, room).map(rowFor)])}
          >
            {propertiesTexts.addFields(missing.length === fields.length, storage)}
          </Button>
        ) : null}
      </Group>
    </Stack>
  )
}
