import { ActionIcon, Menu } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link } from 'wouter'
import type { StorageRecord } from '../../../shared/api/storages.ts'
import { queryClient } from '../../api/query-client.ts'
import { call } from '../../api/request.ts'
import { countQuery, forgetStorages } from '../../api/storages.ts'
import { confirm } from '../../controls/confirm.ts'
import { Icon } from '../../controls/icon.tsx'
import { StorageDialog } from './storage-dialog.tsx'
import { StorageRulesDialog } from './storage-rules-dialog.tsx'

export function StorageMenu({ storage }: { readonly storage: StorageRecord }) {
  const [isEditing, edit] = useDisclosure(false)
  const [isRuling, rule] = useDisclosure(false)
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`More about ${storage.name}`}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="edit" size={16} />} onClick={edit.open}>
            Description and history
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="lock" size={16} />} onClick={rule.open}>
            Rules
          </Menu.Item>
          <Menu.Item
            component={Link}
            href={`/data/storages/${storage._meta.guid}?open=advice`}
            leftSection={<Icon name="search" size={16} />}
          >
            Searches and indexes
          </Menu.Item>
          <Menu.Item
            color="red"
            leftSection={<Icon name="trash" size={16} />}
            onClick={() => void askToDelete(storage)}
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <StorageDialog opened={isEditing} onClose={edit.close} storage={storage} />
      <StorageRulesDialog opened={isRuling} onClose={rule.close} storage={storage} />
    </>
  )
}

async function askToDelete({ _meta, name }: StorageRecord): Promise<void> {
  const found = await queryClient.fetchQuery(countQuery(_meta.guid)).catch(() => undefined)
  const what = found ? `${found.count.toLocaleString()} documents` : 'all its documents'
  confirm({
    title: `Delete the storage ${name}?`,
    text: `Deletes it with ${what} and their history, immediately and permanently. Blueprints that use it will fail. Export its documents first if you may want them back.`,
    action: 'Delete permanently',
    type: name,
    run: async () => {
      await call('DELETE', `/_system/storages/${_meta.guid}`)
      await forgetStorages()
    },
  })
}
