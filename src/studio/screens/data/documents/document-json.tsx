import { Stack, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import type { Document } from '../../../../shared/api/data/documents.ts'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import { JsonField } from '../../../controls/json/json-field.tsx'
import { jsonMistake } from '../../../controls/json/json-mistake.ts'
import { dataTexts } from '../../../texts/data.ts'
import { changedFields, objectIn, withoutMeta } from './document-changes.ts'
import { isFields } from './document-shape.ts'
import { SaveBar } from './save-bar.tsx'
import { useDocumentSave } from './use-document-save.ts'

interface DocumentJsonProps {
  readonly storage: StorageRecord
  /** None: a new one. */
  readonly document: Document | undefined
}

/** The document as text. What is saved are the fields that differ. */
export function DocumentJson({ storage, document }: DocumentJsonProps) {
  const stored = useMemo(() => JSON.stringify(withoutMeta(document ?? {}), null, 2), [document])
  const [typed, setTyped] = useState<string>()
  const save = useDocumentSave(storage, document, () => setTyped(undefined))
  const text = typed ?? stored
  const mistake = mistakeIn(text)
  const { fields, lost } =
    mistake === '' ? changedFields(document ?? {}, objectIn(text)) : { fields: {}, lost: [] }
  return (
    <Stack gap="sm" maw={860}>
      <JsonField
        label={dataTexts.document}
        description={dataTexts.documentHelp}
        value={text}
        onChange={setTyped}
        error={mistake || undefined}
        minRows={12}
      />
      {lost.length > 0 ? (
        <Text size="sm" c="dimmed">
          {dataTexts.lostFields(lost.join(', '))}
        </Text>
      ) : null}
      <SaveBar
        isNew={document === undefined}
        changes={Object.keys(fields).length}
        isSaving={save.isPending}
        error={save.error}
        disabled={mistake !== ''}
        onSave={() => save.mutate(fields)}
        onDiscard={() => {
          setTyped(undefined)
          save.reset()
        }}
      />
    </Stack>
  )
}

function mistakeIn(text: string): string {
  const mistake = jsonMistake(text)
  if (mistake !== '') return mistake
  return isFields(JSON.parse(text)) ? '' : dataTexts.documentIsObject
}
