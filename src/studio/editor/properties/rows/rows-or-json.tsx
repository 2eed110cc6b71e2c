import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { JsonValue } from '../../../../shared/json.ts'
import type { RowParts } from '../../../../shared/rows/row-part.ts'
import { propertiesTexts } from '../../../texts/properties.ts'
import { useFieldFocus } from '../use-field-focus.ts'
import { RowsInput } from './rows-input.tsx'
import { readRows } from './written-rows.ts'

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
