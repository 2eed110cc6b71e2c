import { TextInput } from '@mantine/core'
import { useFieldError } from '../../controls/field-errors.tsx'
import type { useDraft } from '../../controls/use-draft.ts'
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
          label="Default expression"
          description="Expression for new documents that leave it out, such as today() or user.username."
          value={defaultExpression}
          error={error('default_expression')}
          onChange={(event) => set('defaultExpression', event.currentTarget.value)}
        />
      ) : null}
      {defaultValue === '' && defaultExpression === '' ? (
        <TextInput
          label="Computed as"
          description="Expression over the document, such as doc.price * doc.quantity. Every write stores its result."
          value={computed}
          error={error('computed')}
          onChange={(event) => set('computed', event.currentTarget.value)}
        />
      ) : null}
    </>
  )
}
