import { Text } from '@mantine/core'
import { lazy, Suspense, useMemo } from 'react'
import { propertiesTexts } from '../../../texts/properties.ts'
import classes from '../../expressions/expression-pin.module.css'
import type { ExpressionScope } from '../../expressions/expression-scope.ts'
import { cellNames } from '../../expressions/given-names.ts'

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
export function CellExpression({ label, row, value, fields, onCommit }: CellExpressionProps) {
  const scope = useMemo((): ExpressionScope => {
    const doc = Object.fromEntries(fields.map((field) => [field, undefined]))
    return { blocks: [], given: { doc }, only: cellNames }
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
