"""Models and the servers that have them: accounts, addresses, tries."""

from halocline.runtime.models.connection_test import ModelConnection as ModelConnection
from halocline.runtime.models.efforts import Efforts as Efforts
from halocline.runtime.models.model_names import NO_CHAT as NO_CHAT
from halocline.services.models.accounts import Account as Account, Accounts as Accounts, StoredKey as StoredKey
from halocline.services.models.model_list import OfferedModel as OfferedModel
from halocline.services.models.servers import (
    check_address as check_address,
    save_address as save_address,
    save_server as save_server,
    try_server as try_server,
)
from halocline.task.updates.unseen_images import BLIND as BLIND
