import { ActionIcon, Button, Group, Stack, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { wordsOfField } from '../../../../shared/fields/field-names.ts'
import type { JsonObject, JsonValue } from '../../../../shared/json.ts'
import type { RowParts } from '../../../../shared/rows/row-part.ts'
import { fieldsQuery, inOrder } from '../../../api/storages.ts'
import { Icon } from '../../../controls/icon.tsx'
import { propertiesTexts } from '../../../texts/properties.ts'
import { useFieldFocus } from '../use-field-focus.ts'
import { PartInput } from './part-input.tsx'
import classes from './rows.module.css'
import { MOST_ROWS, mainPart, movedRow, readRows, withPart, writeRows } from './written-rows.ts'

interface RowsOrJsonProps {
  /** Name of the pin or setting. */
  readonly name: string
  readonly parts: RowParts
  readonly value: JsonValue | undefined
  readonly storage: string
  readonly onChange: (value: JsonValue | undefined) => void
  /** The field for the same value as JSON. */
  readonly json: ReactNode
}

/** A list as rows, or as JSON: by choice, and where rows cannot show what is there. */
export function RowsOrJson({ json, value, parts, ...rest }: RowsOrJsonProps) {
  const ref = useFieldFocus<HTMLDivElement>(rest.name)
  const [asJson, setAsJson] = useState(false)
  const rows = readRows(value, parts)
  if (rows === undefined) return json
  return (
    <div ref={ref} tabIndex={-1}>
      {asJson ? json : <RowsInput {...rest} rows={rows} parts={parts} />}
      <Button size="compact-xs" variant="subtle" color="gray" mt={4} onClick={() => setAsJson(!asJson)}>
        {asJson ? propertiesTexts.editAsRows(rest.name) : propertiesTexts.editAsJson(rest.name)}
      </Button>
    </div>
  )
}

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
function RowsInput({ name, parts, rows, storage, onChange }: RowsInputProps) {
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

interface RowFormProps {
  readonly row: JsonObject
  /** From 1. */
  readonly number: number
  readonly parts: RowParts
  readonly fields: readonly string[]
  readonly onChange: (row: JsonObject) => void
  readonly onRemove: () => void
  /** Undefined at that end of the list. */
  readonly onUp: (() => void) | undefined
  readonly onDown: (() => void) | undefined
}

/** One row: its main part in a line with what can be done with it, and the other parts folded below. */
function RowForm({ row, number, parts, fields, onChange, onRemove, onUp, onDown }: RowFormProps) {
  const [open, setOpen] = useState(false)
  const { key } = mainPart(parts)
  const [first, ...others] = Object.entries(parts)
  if (!first) return null
  const name = typeof row[key] === 'string' && row[key] !== '' ? row[key] : propertiesTexts.row(number)
  const set = (part: string) => (value: Parameters<typeof withPart>[2]) =>
    onChange(withPart(row, part, value))
  const actions = [
    ['up', propertiesTexts.moveUp(name), onUp],
    ['down', propertiesTexts.moveDown(name), onDown],
    ['trash', propertiesTexts.removeNamed(name), onRemove],
  ] as const
  return (
    <li className={classes.row}>
      <Group gap={2} wrap="nowrap">
        <div className={classes.main}>
          <PartInput
            name={key}
            part={first[1]}
            value={row[key]}
            hiddenLabel={propertiesTexts.cellInRow(key, number)}
            fields={fields}
            row={name}
            onChange={set(key)}
          />
        </div>
        <Tooltip label={open ? propertiesTexts.less : propertiesTexts.moreAboutIt}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={propertiesTexts.moreAbout(name)}
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            <Icon name="more" size={14} />
          </ActionIcon>
        </Tooltip>
        {actions.map(([icon, label, run]) => (
          <ActionIcon
            key={icon}
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={label}
            disabled={run === undefined}
            onClick={run}
          >
            <Icon name={icon} size={14} />
          </ActionIcon>
        ))}
      </Group>
      {open ? (
        <Stack gap={6} className={classes.parts}>
          {others.map(([part, kind]) => (
            <PartInput
              key={part}
              name={part}
              part={kind}
              value={row[part]}
              fields={fields}
              row={name}
              onChange={set(part)}
            />
          ))}
        </Stack>
      ) : null}
    </li>
  )
}
