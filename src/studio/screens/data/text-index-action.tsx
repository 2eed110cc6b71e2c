import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { adviceQuery, createTextIndex } from '../../api/storages.ts'
import { Icon } from '../../controls/icon.tsx'
import { notifyDone, notifyFailed } from '../../controls/notify.ts'
import { fieldsTexts } from '../../texts/fields.ts'

/** Creates the text index of a storage; nothing where there is one. */
export function TextIndexAction({ storage }: { readonly storage: string }) {
  const { data } = useQuery(adviceQuery(storage))
  const [isMaking, setMaking] = useState(false)
  if (!data || data.text_index) return null
  const make = async () => {
    setMaking(true)
    try {
      await createTextIndex(storage)
      notifyDone(fieldsTexts.textIndexCreated)
    } catch (error) {
      notifyFailed(fieldsTexts.textIndexFailed, error)
    } finally {
      setMaking(false)
    }
  }
  return (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<Icon name="search" size={14} />}
      loading={isMaking}
      title={fieldsTexts.textIndexHelp}
      onClick={() => void make()}
    >
      {fieldsTexts.textIndex}
    </Button>
  )
}
