import { drift, plan, pull, push, releases, rollback } from './applications/release-commands.ts'
import { remoteAdd } from './applications/remote-add.ts'
import { auditVerify } from './audit-verify.ts'
import { check } from './check.ts'
import { client } from './client.ts'
import type { Command } from './command.ts'
import { completion } from './completion/completion.ts'
import { connectionGet } from './connections/connection-get.ts'
import { connectionList } from './connections/connection-list.ts'
import { connectionSet } from './connections/connection-set.ts'
import { connectionTry } from './connections/connection-try.ts'
import { connectionUnset } from './connections/connection-unset.ts'
import { backup } from './data/backup.ts'
import { migrate } from './data/migrate.ts'
import { restore } from './data/restore.ts'
import { envGet } from './environment/env-get.ts'
import { envList } from './environment/env-list.ts'
import { envSet } from './environment/env-set.ts'
import { envUnset } from './environment/env-unset.ts'
import { exportBlueprintFile } from './export.ts'
import { fieldAdd } from './fields/field-add.ts'
import { fieldConvert } from './fields/field-convert.ts'
import { fieldList } from './fields/field-list.ts'
import { fieldRemove } from './fields/field-remove.ts'
import { fieldRename } from './fields/field-rename.ts'
import { importBlueprintFile } from './import.ts'
import { keyCreate } from './keys/key-create.ts'
import { keyList } from './keys/key-list.ts'
import { keyRemove } from './keys/key-remove.ts'
import { keyRotate } from './keys/key-rotate.ts'
import { rowsImport } from './rows/rows-import.ts'
import { run } from './runs/run.ts'
import { undo } from './runs/undo.ts'
import { test } from './scenarios/test.ts'
import { secretList } from './secrets/secret-list.ts'
import { secretRotate } from './secrets/secret-rotate.ts'
import { secretSet } from './secrets/secret-set.ts'
import { secretUnset } from './secrets/secret-unset.ts'
import { settingList } from './settings/setting-list.ts'
import { settingSet } from './settings/setting-set.ts'
import { settingUnset } from './settings/setting-unset.ts'
import { login } from './sign-in/login.ts'
import { logout } from './sign-in/logout.ts'
import { start } from './start.ts'
import { storageAdd } from './storages/storage-add.ts'
import { storageList } from './storages/storage-list.ts'
import { storageRemove } from './storages/storage-remove.ts'
import { userCreate } from './user-create.ts'
import { userResetPassword } from './user-reset-password.ts'
import { userResetSecondFactor } from './user-reset-second-factor.ts'
import { waitCancel } from './waits/wait-cancel.ts'
import { waitContinue } from './waits/wait-continue.ts'
import { waitList } from './waits/wait-list.ts'
import { waitMove } from './waits/wait-move.ts'
import { waitShow } from './waits/wait-show.ts'

const working: readonly Command[] = [
  start,
  check,
  test,
  pull,
  plan,
  push,
  releases,
  rollback,
  drift,
  remoteAdd,
  exportBlueprintFile,
  importBlueprintFile,
  rowsImport,
  storageList,
  storageAdd,
  storageRemove,
  fieldList,
  fieldAdd,
  fieldRename,
  fieldConvert,
  fieldRemove,
  login,
  logout,
  auditVerify,
  userCreate,
  userResetPassword,
  userResetSecondFactor,
  envList,
  envGet,
  envSet,
  envUnset,
  secretList,
  secretSet,
  secretUnset,
  secretRotate,
  connectionList,
  connectionGet,
  connectionSet,
  connectionUnset,
  connectionTry,
  settingList,
  settingSet,
  settingUnset,
  keyList,
  keyCreate,
  keyRotate,
  keyRemove,
  run,
  undo,
  client,
  waitList,
  waitShow,
  waitContinue,
  waitMove,
  waitCancel,
  backup,
  restore,
  migrate,
]

/** Every command, in the order of `quoin --help`. */
export const commands: readonly Command[] = [...working, completion(working)]
