import { Autocomplete, NumberInput, Select, Switch, Text, TextInput } from '@mantine/core'
import { lazy, Suspense, useMemo } from 'react'
import { wordsOfField } from '../../../../shared/fields/field-names.ts'
import type { JsonValue } from '../../../../shared/json.ts'
import type { RowPart } from '../../../../shared/rows/row-part.ts'
import { propertiesTexts } from '../../../texts/properties.ts'
import classes from '../../expressions/expression-pin.module.css'
import type { ExpressionScope } from '../../expressions/expression-scope.ts'
import { cellNames } from '../../expressions/parsed-pin.ts'
import { LazyInput } from '../lazy-input.tsx'

/** Fetched when the first expression is shown. */
const CodeField = lazy(async () => ({
  default: (await import('../../expressions/field/code-field.tsx')).CodeField,
}))

interface CellExpressionProps {
  readonly label: string
  /** What the row is about. */
  readonly row: string
  /** Without `=`. */
  readonly value: string
  /** Names of the fields of the document. */
  readonly fields: readonly string[]
  readonly onCommit: (text: string) => void
}

/** The expression of a column, about the document of the row. */
function CellExpression({ label, row, value, fields, onCommit }: CellExpressionProps) {
  const scope = useMemo((): ExpressionScope => {
    const doc = Object.fromEntries(fields.map((field) => [field, undefined]))
    return { blocks: [], values: { doc }, only: cellNames }
  }, [fields])
  return (
    <div>
      <Text size="xs" fw={600} mb={2}>
        {label}
      </Text>
      <Suspense fallback={<div className={classes.waiting}>{value}</div>}>
        <CodeField
          pin={propertiesTexts.cellOf(label.toLowerCase(), row)}
          mode="expression"
          example="doc.price * 1.19"
          value={value}
          scope={scope}
          problem={undefined}
          isNew={false}
          onCommit={(text) => onCommit(text.replace(/^\s*=(?!=)/, '').trim())}
        />
      </Suspense>
    </div>
  )
}

interface PartInputProps {
  readonly name: string
  readonly part: RowPart
  readonly value: JsonValue | undefined
  /** For screen readers, where no label is shown. */
  readonly hiddenLabel?: string
  /** Names of fields. */
  readonly fields: readonly string[]
  /** What the row is about. */
  readonly row: string
  readonly onChange: (value: JsonValue | undefined) => void
}

/** One part of a row. */
export function PartInput({ name, part, value, hiddenLabel, fields, row, onChange }: PartInputProps) {
  const label = wordsOfField(name)
  const named = hiddenLabel === undefined ? { label } : { 'aria-label': hiddenLabel, placeholder: label }
  switch (part.kind) {
    case 'switch':
      return (
        <Switch
          size="xs"
          label={label}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      )
    case 'choice':
      return (
        <Select
          size="xs"
          {...named}
          data={[...(part.choices ?? [])]}
          value={typeof value === 'string' ? value : null}
          onChange={(next) => onChange(next ?? undefined)}
          clearable
        />
      )
    case 'number':
      // A date is a bound too, and is written as JSON.
      if (value !== undefined && typeof value !== 'number')
        return <TextInput size="xs" {...named} value={JSON.stringify(value)} readOnly />
      return (
        <NumberInput
          size="xs"
          {...named}
          value={typeof value === 'number' ? value : ''}
          onChange={(next) => onChange(typeof next === 'number' ? next : undefined)}
        />
      )
    case 'expression':
      // Another word for the kind of a column is text.
      if (value === undefined || (typeof value === 'string' && value.startsWith('=')))
        return (
          <CellExpression
            label={label}
            row={row}
            value={value?.slice(1) ?? ''}
            fields={fields}
            onCommit={(text) => onChange(text === '' ? undefined : `=${text}`)}
          />
        )
      return <TextInput size="xs" {...named} value={String(value)} readOnly />
    default:
      return (
        <LazyInput
          value={value === undefined || value === null ? '' : String(value)}
          onCommit={onChange}
          render={({ onChange: write, ...rest }) =>
            part.kind === 'field' ? (
              <Autocomplete
                {...rest}
                {...named}
                size="xs"
                data={[...fields]}
                onChange={(text) => write({ currentTarget: { value: text } } as Parameters<typeof write>[0])}
                onOptionSubmit={onChange}
              />
            ) : (
              <TextInput {...rest} {...named} size="xs" onChange={write} />
            )
          }
        />
      )
  }
}
