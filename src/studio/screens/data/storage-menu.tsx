import { ActionIcon, Menu } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link } from 'wouter'
import type { StorageRecord } from '../../../shared/api/data/storages.ts'
import { queryClient } from '../../api/query-client.ts'
import { call } from '../../api/request.ts'
import { countQuery, forgetStorages } from '../../api/storages.ts'
import { confirm } from '../../controls/confirm.ts'
import { Icon } from '../../controls/icon.tsx'
import { dataTexts } from '../../texts/data.ts'
import { AccessDialog } from '../blueprints/access/access-dialog.tsx'
import { StorageRulesDialog } from './rules/storage-rules-dialog.tsx'
import { StorageDialog } from './storage-dialog.tsx'

export function StorageMenu({ storage }: { readonly storage: StorageRecord }) {
  const [isEditing, edit] = useDisclosure(false)
  const [isRuling, rule] = useDisclosure(false)
  const [isGranting, grant] = useDisclosure(false)
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={dataTexts.moreAbout(storage.name)}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="edit" size={16} />} onClick={edit.open}>
            {dataTexts.descriptionAndHistory}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="people" size={16} />} onClick={grant.open}>
            {dataTexts.whoMayUseIt}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="lock" size={16} />} onClick={rule.open}>
            {dataTexts.rules}
          </Menu.Item>
          <Menu.Item
            component={Link}
            href={`/data/storages/${storage._meta.guid}?open=advice`}
            leftSection={<Icon name="search" size={16} />}
          >
            {dataTexts.searchesAndIndexes}
          </Menu.Item>
          <Menu.Item
            color="red"
            leftSection={<Icon name="trash" size={16} />}
            onClick={() => void askToDelete(storage)}
          >
            {dataTexts.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <StorageDialog opened={isEditing} onClose={edit.close} storage={storage} />
      <AccessDialog opened={isGranting} onClose={grant.close} storage={storage.name} />
      <StorageRulesDialog opened={isRuling} onClose={rule.close} storage={storage} />
    </>
  )
}

async function askToDelete({ _meta, name }: StorageRecord): Promise<void> {
  const found = await queryClient.fetchQuery(countQuery(_meta.guid)).catch(() => undefined)
  const what = found ? dataTexts.documentCount(found.count.toLocaleString()) : dataTexts.allItsDocuments
  confirm({
    title: dataTexts.deleteTheStorage(name),
    text: dataTexts.deleteTheStorageText(what),
    action: dataTexts.deletePermanently,
    type: name,
    run: async () => {
      await call('DELETE', `/_system/storages/${_meta.guid}`)
      await forgetStorages()
    },
  })
}
