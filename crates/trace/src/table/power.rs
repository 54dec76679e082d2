//! Tables of power settings.

tables! {
    /// A power setting and its value at a moment.
    PowerSetting / PowerSettingColumns = "power_setting", order ["ts_ns"] {
        /// Time.
        ts_ns: i64, "ns";
        /// `rundown`: the value when the recording starts or ends; `change`: a new value.
        kind: &'static str;
        /// GUID of the setting.
        setting_guid: String;
        /// Name, if the event contains it.
        name: Option<String>;
        /// Value as a number; null if it has other than 1, 2, 4 or 8 bytes.
        value: Option<i64>;
        /// Value as a GUID, if it has 16 bytes.
        value_guid: Option<String>;
        /// Bytes of the value, in hexadecimal digits.
        value_hex: String;
        /// True if something overrides the power scheme; null if unknown.
        is_override: Option<bool>;
        /// Profile of the processor driver that the setting belongs to; null for the value in force
        /// in the system.
        profile: Option<i32>;
        /// For a setting of a profile: `ac` on external power, `dc` on battery.
        power_source: Option<&'static str>;
        /// For a setting of a profile: efficiency class of the cores that it applies to.
        efficiency_class: Option<i32>;
    }

    /// A change of the profile of the processor driver.
    PowerProfile / PowerProfileColumns = "power_profile", order ["ts_ns"] {
        /// Time.
        ts_ns: i64, "ns";
        /// The profile before.
        previous: i32;
        /// The new one.
        profile: i32;
    }
}
