#ifndef SPS_CLIBSECRET_SHIM_H
#define SPS_CLIBSECRET_SHIM_H

#if !__has_include(<libsecret/secret.h>)
#error "KeyringBackend needs libsecret: apt-get install libsecret-1-dev; or leave out the trait Keyring"
#endif

// The functions that turn a secret into what crosses the bus, and back, are behind this.
#define SECRET_API_SUBJECT_TO_CHANGE 1
#include <glib-unix.h>
#include <libsecret/secret.h>

#include <gio/gio.h>

// What Swift does not import: macros, and functions with a variable number of arguments.

// SecretService, which would connect by g_bus_get(): that connection is shared by the whole process,
// stays at the address that was first asked for, and ends the process when the bus goes away.
// SecretService's constructor puts that in the place of what it is given; this subclass has its
// parent's, and nothing else of its own.
static inline void sps_secret_service_class_init(gpointer class, gpointer unused) {
  (void)unused;
  GObjectClass *parent = (GObjectClass *)g_type_class_ref(G_TYPE_DBUS_PROXY);
  ((GObjectClass *)class)->constructor = parent->constructor;
}

static inline GType sps_secret_service_get_type(void) {
  static gsize type = 0;
  if (g_once_init_enter(&type)) {
    const GTypeInfo info = {
        .class_size = sizeof(SecretServiceClass),
        .class_init = sps_secret_service_class_init,
        .instance_size = sizeof(SecretService),
    };
    g_once_init_leave(
        &type, g_type_register_static(SECRET_TYPE_SERVICE, "SPSSecretService", &info, 0));
  }
  return type;
}

/// A proxy of the Secret Service on a connection of ours, with a session of its own; blocks.
static inline SecretService *_Nullable sps_secret_service_new(
    GDBusConnection *_Nonnull connection, const char *_Nonnull name, int milliseconds,
    GCancellable *_Nullable cancellable, GError *_Nullable *_Nullable error) {
  gpointer service = g_initable_new(
      sps_secret_service_get_type(), cancellable, error, "g-connection", connection, "g-name",
      name, "g-object-path", "/org/freedesktop/secrets", "g-interface-name",
      "org.freedesktop.Secret.Service", "g-flags",
      G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES | G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS,
      "g-default-timeout", milliseconds, "flags", SECRET_SERVICE_OPEN_SESSION, NULL);
  return service == NULL ? NULL : SECRET_SERVICE(service);
}

/// The type of a string that names one; the string need not outlive the call.
static inline const GVariantType *_Nonnull sps_variant_type(const char *_Nonnull text) {
  return G_VARIANT_TYPE(g_intern_string(text));
}

/// A SecretValue with a copy of the bytes in libsecret's own memory, which is locked and wiped.
static inline SecretValue *_Nonnull sps_secret_value_new(
    const void *_Nonnull bytes, gssize count, const char *_Nonnull content_type) {
  return secret_value_new((const gchar *)bytes, count, content_type);
}

/// G_IO_ERROR.
static inline GQuark sps_io_error(void) { return G_IO_ERROR; }

/// G_DBUS_ERROR.
static inline GQuark sps_dbus_error(void) { return G_DBUS_ERROR; }

/// SECRET_ERROR.
static inline GQuark sps_secret_error(void) { return SECRET_ERROR; }

#endif
