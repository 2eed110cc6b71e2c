import { TextInput } from '@mantine/core'
import { useFieldError } from '../../../controls/field-errors.tsx'
import type { useDraft } from '../../../controls/use-draft.ts'
import { fieldsTexts } from '../../../texts/fields.ts'
import type { FieldDraft } from './field-draft.ts'

type Draft = ReturnType<typeof useDraft<FieldDraft>>

/** A field has one of default, default expression and computed: what cannot be chosen beside another one is not shown. */
export function FieldExpressionsForm({ draft, set }: Pick<Draft, 'draft' | 'set'>) {
  const error = useFieldError()
  const { defaultValue, defaultExpression, computed } = draft
  return (
    <>
      {defaultValue === '' && computed === '' ? (
        <TextInput
          label={fieldsTexts.defaultExpression}
          description={fieldsTexts.defaultExpressionHelp}
          value={defaultExpression}
          error={error('default_expression')}
          onChange={(event) => set('defaultExpression', event.currentTarget.value)}
        />
      ) : null}
      {defaultValue === '' && defaultExpression === '' ? (
        <TextInput
          label={fieldsTexts.computedAs}
          description={fieldsTexts.computedAsHelp}
          value={computed}
          error={error('computed')}
          onChange={(event) => set('computed', event.currentTarget.value)}
        />
      ) : null}
    </>
  )
}
