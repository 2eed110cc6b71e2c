import { Alert, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { JsonField } from '../../controls/json/json-field.tsx'
import { requestFormTexts } from '../../texts/bar.ts'
import { RequestFieldInput } from './request-field.tsx'
import { bodyObject, type FormField, fieldText, typedValue, withBodyField } from './request-form.ts'

interface RequestBodyProps {
  readonly fields: readonly FormField[]
  /** JSON text; what is sent. */
  readonly body: string
  readonly onChange: (body: string) => void
}

/** The body of a request as the fields that its endpoint names, or as JSON. */
export function RequestBody({ fields, body, onChange }: RequestBodyProps) {
  const [way, setWay] = useState('fields')
  if (fields.length === 0)
    return <JsonField label={requestFormTexts.body} value={body} onChange={onChange} minRows={4} />
  const object = bodyObject(body)
  return (
    <Stack gap="xs" role="group" aria-label={requestFormTexts.body}>
      <SegmentedControl
        size="xs"
        aria-label={requestFormTexts.howToWrite}
        style={{ alignSelf: 'flex-start' }}
        data={[
          { value: 'fields', label: requestFormTexts.fields },
          { value: 'json', label: requestFormTexts.json },
        ]}
        value={way}
        onChange={setWay}
      />
      {way === 'json' ? (
        <JsonField label={requestFormTexts.body} value={body} onChange={onChange} minRows={4} />
      ) : object === undefined ? (
        <Alert color="sand" variant="light" p="xs">
          <Text size="xs">{requestFormTexts.noObject}</Text>
        </Alert>
      ) : (
        fields.map((field) => (
          <RequestFieldInput
            key={field.name}
            field={field}
            isBody
            value={Object.hasOwn(object, field.name) ? fieldText(field, object[field.name]) : ''}
            onChange={(text) => onChange(withBodyField(body, field.name, typedValue(field, text).value))}
          />
        ))
      )}
    </Stack>
  )
}
