//! The product of a file.

use std::collections::HashMap;

use etwkit_sql::filter::TextFilter;

use super::{OverheadBy, OverheadRequest};

/// Name of the cost of tracing itself.
const TRACING: &str = "Event tracing (ETW)";

/// The virus scanner of Windows: made by Microsoft, but a separate product, since not every machine
/// runs it.
const DEFENDER: &str = "Microsoft Defender";
const DEFENDER_FILES: &[&str] = &[
    "mpcmdrun.exe",
    "mpdefendercoreservice.exe",
    "msmpeng.exe",
    "mssecflt.sys",
    "mssense.exe",
    "nissrv.exe",
    "senseir.exe",
    "sensendr.exe",
    "wdboot.sys",
    "wdfilter.sys",
    "wdnisdrv.sys",
];

/// Programs that record traces: their cost is a cost of tracing.
const RECORDERS: &[&str] = &[
    "logman.exe",
    "perfview.exe",
    "tracelog.exe",
    "uiforetw.exe",
    "wpr.exe",
    "wprui.exe",
    "xperf.exe",
    "etwkit.exe",
];

/// A product, or a company, file or tag if rows are grouped by these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Product {
    pub(super) name: String,
    pub(super) company: Option<String>,
    /// Names of all its files.
    pub(super) files: Vec<String>,
}

impl Product {
    /// Returns `true` if its name, its company or one of its files passes.
    pub(super) fn fits(&self, filter: &TextFilter) -> bool {
        let texts = std::iter::once(&self.name)
            .chain(&self.company)
            .chain(&self.files);
        // In one text, so that excluding one file excludes the product.
        let all = texts.map(String::as_str).collect::<Vec<_>>().join("\n");
        filter.matches(Some(&all))
    }
}

/// A module, from its row.
#[derive(Debug, Clone, Copy)]
pub(super) struct File<'a> {
    pub(super) name: &'a str,
    pub(super) path: &'a str,
    pub(super) company: Option<&'a str>,
    pub(super) product: Option<&'a str>,
    pub(super) is_driver: bool,
}

/// The products that were found. The first one is tracing itself.
#[derive(Debug)]
pub(super) struct Products {
    by: OverheadBy,
    /// True if any file has a company: if none does, a missing company means nothing.
    pub(super) are_companies_known: bool,
    numbers: HashMap<(String, String), u32>,
    pub(super) all: Vec<Product>,
}

impl Products {
    /// The number of tracing itself.
    pub(super) const TRACING: u32 = 0;

    pub(super) fn new(asked: &OverheadRequest, are_companies_known: bool) -> Self {
        let tracing = Product {
            name: TRACING.to_owned(),
            company: None,
            files: Vec::new(),
        };
        Self {
            by: asked.by,
            are_companies_known,
            numbers: HashMap::new(),
            all: vec![tracing],
        }
    }

    /// Creates the products for rows by stack tag. The number of tracing stays unused, since there
    /// are tags for it.
    pub(super) fn of_tags() -> Self {
        Self::new(
            &OverheadRequest {
                by: OverheadBy::Tag,
                ..OverheadRequest::default()
            },
            true,
        )
    }

    /// Returns the number of a stack tag, to which this file belongs.
    pub(super) fn of_tag(&mut self, tag: &str, file: Option<&str>) -> u32 {
        let number = self.number(tag, None);
        file.map_or(number, |file| self.put(number, file))
    }

    /// Returns the product of a file; `None` for a part of Windows.
    pub(super) fn of(&mut self, file: &File<'_>) -> Option<u32> {
        let lower = file.name.to_lowercase();
        if RECORDERS.contains(&lower.as_str()) {
            return Some(self.put(Self::TRACING, file.name));
        }
        let company = file
            .company
            .map(str::trim)
            .filter(|company| !company.is_empty());
        let name = match company {
            Some(company) if is_microsoft(company) => {
                match DEFENDER_FILES.contains(&lower.as_str()) {
                    true => DEFENDER,
                    false => return None,
                }
            }
            Some(company) => file
                .product
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .unwrap_or(company),
            // If others name their company, a driver that does not is not from Windows. For
            // programs the folder shows whether they came with Windows.
            None if !self.are_companies_known || (!file.is_driver && is_in_windows(file.path)) => {
                return None;
            }
            None => file.name,
        };
        let name = match (self.by, company) {
            (OverheadBy::File, _) => file.name,
            // Not under Microsoft, whose other files are Windows and have no row.
            (OverheadBy::Company, Some(company)) if name != DEFENDER => company,
            _ => name,
        };
        let number = self.number(name, company);
        Some(self.put(number, file.name))
    }

    fn number(&mut self, name: &str, company: Option<&str>) -> u32 {
        // Files of one product spell its name in different ways; the first spelling is shown.
        let key = (name.to_lowercase(), company.unwrap_or("").to_lowercase());
        *self.numbers.entry(key).or_insert_with(|| {
            let company = company.map(str::to_owned);
            self.all.push(Product {
                name: name.to_owned(),
                company,
                files: Vec::new(),
            });
            u32::try_from(self.all.len() - 1).unwrap_or(Self::TRACING)
        })
    }

    fn put(&mut self, number: u32, file: &str) -> u32 {
        if let Some(product) = self.all.get_mut(number as usize)
            && !product
                .files
                .iter()
                .any(|known| known.eq_ignore_ascii_case(file))
        {
            product.files.push(file.to_owned());
        }
        number
    }
}

fn is_microsoft(company: &str) -> bool {
    // Version resources may start with a sign such as the copyright sign.
    let company = company.trim_start_matches(|c: char| !c.is_alphanumeric());
    company
        .get(.."microsoft".len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case("microsoft"))
}

fn is_in_windows(path: &str) -> bool {
    let path = path.to_lowercase();
    path.starts_with(r"\windows\")
        || path.starts_with(r"\systemroot\")
        || path.contains(r":\windows\")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn products(asked: &OverheadRequest) -> Vec<(String, Option<String>, Vec<String>)> {
        let files = [
            (
                "Guard.sys",
                r"C:\Windows\System32\drivers\guard.sys",
                Some("North Ltd"),
                Some("North Guard"),
            ),
            (
                "guardsvc.exe",
                r"C:\Program Files\North\guardsvc.exe",
                Some("NORTH LTD"),
                Some("North guard "),
            ),
            (
                "lamp.dll",
                r"C:\Program Files\North\lamp.dll",
                Some("North Ltd"),
                Some("North Lamp"),
            ),
            (
                "odd.sys",
                r"C:\Windows\System32\drivers\odd.sys",
                None,
                None,
            ),
            ("tool.exe", r"D:\tool.exe", Some(" "), Some("Tool")),
            ("old.dll", r"C:\Windows\System32\old.dll", None, None),
            (
                "ntfs.sys",
                r"C:\Windows\System32\drivers\ntfs.sys",
                Some("Microsoft Corporation"),
                None,
            ),
            (
                "WdFilter.sys",
                r"C:\Windows\x.sys",
                Some("© Microsoft Corporation"),
                Some("Windows"),
            ),
            (
                "wpr.exe",
                r"C:\Windows\System32\wpr.exe",
                Some("Microsoft Corporation"),
                None,
            ),
        ];
        let mut found = Products::new(asked, true);
        for (name, path, company, product) in files {
            found.of(&File {
                name,
                path,
                company,
                product,
                is_driver: name.ends_with(".sys"),
            });
        }
        found
            .all
            .into_iter()
            .map(|one| (one.name, one.company, one.files))
            .collect()
    }

    fn names(asked: &OverheadRequest) -> Vec<String> {
        products(asked)
            .into_iter()
            .map(|(name, _, files)| format!("{name}: {}", files.join(" ")))
            .collect()
    }

    #[test]
    fn files_of_one_company_and_product_are_one() {
        let found = names(&OverheadRequest::default());
        let expected = [
            "Event tracing (ETW): wpr.exe",
            "North Guard: Guard.sys guardsvc.exe",
            "North Lamp: lamp.dll",
            "odd.sys: odd.sys",
            "tool.exe: tool.exe",
            "Microsoft Defender: WdFilter.sys",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn companies_and_files_can_be_rows() {
        let by = |by| OverheadRequest {
            by,
            ..OverheadRequest::default()
        };
        let companies = names(&by(OverheadBy::Company));
        assert_eq!(
            companies[1],
            "NORTH LTD: Guard.sys guardsvc.exe lamp.dll".replace("NORTH LTD", "North Ltd")
        );
        assert!(
            companies.contains(&"Microsoft Defender: WdFilter.sys".to_owned()),
            "{companies:?}"
        );
        let files = names(&by(OverheadBy::File));
        assert_eq!(files.len(), 7, "{files:?}");
        assert_eq!(
            (files[1].as_str(), files[6].as_str()),
            ("Guard.sys: Guard.sys", "WdFilter.sys: WdFilter.sys")
        );
    }

    #[test]
    fn where_no_file_says_its_company_a_missing_one_means_nothing() {
        let mut found = Products::new(&OverheadRequest::default(), false);
        let file = File {
            name: "odd.sys",
            path: "",
            company: None,
            product: None,
            is_driver: true,
        };
        assert_eq!(found.of(&file), None);
    }
}
