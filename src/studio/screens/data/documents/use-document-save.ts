import { useMutation } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import type { Document } from '../../../../shared/api/data/documents.ts'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import { changeDocument, createDocument } from '../../../api/storages.ts'
import { notifyDone } from '../../../controls/notify.ts'
import { dataTexts } from '../../../texts/data.ts'
import type { Edits } from './document-changes.ts'

/** Creates the document and opens it, or changes the one that is there: only the given fields, and only if it is unchanged since. */
export function useDocumentSave(storage: StorageRecord, document: Document | undefined, onSaved: () => void) {
  const [, go] = useLocation()
  return useMutation({
    mutationFn: (fields: Edits) =>
      document
        ? changeDocument(storage._meta.guid, document, fields)
        : createDocument(storage._meta.guid, fields),
    onSuccess: (saved) => {
      notifyDone(document ? dataTexts.saved : dataTexts.created)
      onSaved()
      if (!document)
        go(`/data/storages/${storage._meta.guid}/documents/${saved._meta.guid}`, { replace: true })
    },
  })
}
