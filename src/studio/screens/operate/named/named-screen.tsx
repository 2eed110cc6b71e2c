import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import type { NamedRecord, NamedRecords } from '../../../api/named-records.ts'
import { RemoveAction } from '../../../controls/actions.tsx'
import { confirm } from '../../../controls/confirm.ts'
import { useOpened } from '../../../controls/hooks.ts'
import { Icon } from '../../../controls/icon.tsx'
import { useListAddress } from '../../../controls/lists/list-address.ts'
import { type Column, NameCell, RecordTable } from '../../../controls/lists/record-table.tsx'
import { openAddress } from '../../../controls/save-file.ts'
import { ScreenHead } from '../../../controls/screen-head.tsx'
import { Time } from '../../../controls/time.tsx'
import { namedTexts } from '../../../texts/settings.ts'

/** A dialog with one record: `new`, its guid, or empty for none. */
export interface NamedDialogProps {
  readonly guid: string
  readonly onClose: () => void
}

/** A new one may be made where its name is needed. */
export interface NewNamedProps extends NamedDialogProps {
  readonly name?: string
  readonly onCreated?: (name: string) => void
}

interface NamedScreenProps<R extends NamedRecord> {
  readonly title: string
  readonly about: string
  /** On the button: `New secret`. */
  readonly action: string
  /** Of the screen. */
  readonly address: string
  readonly records: NamedRecords<R>
  /** Between the name and the last change. */
  readonly columns: readonly Column<R>[]
  readonly empty: ReactNode
  /** What follows when it is removed; undefined for one that cannot be removed here. */
  readonly removal: (record: R) => string | undefined
  readonly Dialog: (props: NamedDialogProps) => ReactNode
}

/** Named records of the cluster: a list, and a dialog that makes and changes one. */
export function NamedScreen<R extends NamedRecord>(props: NamedScreenProps<R>) {
  const { title, about, action, address, records, empty, Dialog } = props
  const [open, show] = useOpened()
  const [, , words] = useListAddress()
  return (
    <>
      <ScreenHead title={title} about={about}>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => show('new')}>
          {action}
        </Button>
      </ScreenHead>
      <RecordTable<R>
        label={title}
        queryKey={[records.key, 'list']}
        load={records.find}
        columns={columnsOf(props)}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => openAddress(address, words, _meta.guid)}
        empty={empty}
      />
      <Dialog guid={open} onClose={() => show('')} />
    </>
  )
}

function columnsOf<R extends NamedRecord>({
  records,
  columns,
  removal,
}: NamedScreenProps<R>): readonly Column<R>[] {
  const askToRemove = (record: R, text: string) =>
    confirm({
      title: namedTexts.removeTitle(record.name),
      text,
      action: namedTexts.removeLabel,
      run: () => records.remove(record._meta.guid),
    })
  return [
    {
      id: 'name',
      label: namedTexts.name,
      sort: 'name',
      render: ({ name, description }) => <NameCell name={name} about={description} />,
    },
    ...columns,
    {
      id: 'changed',
      label: namedTexts.changed,
      sort: '_meta.updated',
      width: 180,
      render: ({ _meta, modified_by }) => (
        <>
          <Time at={_meta.updated} /> {namedTexts.by(modified_by.username)}
        </>
      ),
    },
    {
      id: 'remove',
      label: '',
      width: 48,
      render: (record) => {
        const text = removal(record)
        return text === undefined ? null : (
          <RemoveAction
            label={namedTexts.removeNamed(record.name)}
            onClick={() => askToRemove(record, text)}
          />
        )
      },
    },
  ]
}
